#!/bin/sh
# resident.sh: two monitors with resident kernels beside cudamotionest, and nvh264dec where
# it and x264enc are installed, in one process. All reach EOS, and both monitors'
# records equal the CPU's. Exit status 77 without a GPU.
set -eu
nvidia-smi -L 2>/dev/null | grep -q GPU || { echo "skipped: no GPU"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

frames="pbftestsrc num-buffers=50000 regime=mixed"
decoder=
if gst-inspect-1.0 nvh264dec >/dev/null 2>&1 && gst-inspect-1.0 x264enc >/dev/null 2>&1; then
  decoder="videotestsrc num-buffers=300 ! video/x-raw,format=I420 ! x264enc ! h264parse ! nvh264dec ! fakesink"
else
  echo "without a decoder: no nvh264dec or no x264enc"
fi
gst-launch-1.0 -q \
  $frames seed=1 ! cudapbfmonitor name=a backend=cpu ! fakesink a.src_result ! filesink location="$folder/cpu1" \
  $frames seed=2 ! cudapbfmonitor name=b backend=cpu ! fakesink b.src_result ! filesink location="$folder/cpu2"
timeout 100 gst-launch-1.0 -q \
  $frames seed=1 ! cudapbfmonitor name=a backend=cuda mode=persistent ! fakesink a.src_result ! filesink location="$folder/1" \
  $frames seed=2 ! cudapbfmonitor name=b backend=cuda mode=persistent ! fakesink b.src_result ! filesink location="$folder/2" \
  videotestsrc pattern=ball num-buffers=300 ! video/x-raw,format=I420,width=1280,height=720 \
  ! cudamotionest backend=cuda ! fakesink $decoder
cmp "$folder/cpu1" "$folder/1"
cmp "$folder/cpu2" "$folder/2"
