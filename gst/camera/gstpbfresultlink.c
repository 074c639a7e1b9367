/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#define _GNU_SOURCE /* sendmmsg */
#include "gstpbfresultlink.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "gstpbfsocket.h"

#define MESSAGES 64 /* records that one system call sends */

struct _GstPbfResultLink {
  gint fd;
  struct sockaddr_storage address;
  struct mmsghdr messages[MESSAGES];
  struct iovec parts[MESSAGES];
};

GstPbfResultLink *
gst_pbf_result_link_new (const gchar *host, guint port, GError **error)
{
  GstPbfResultLink *link = g_new0 (GstPbfResultLink, 1);
  socklen_t size = gst_pbf_socket_resolve (host, port, &link->address, error);

  link->fd = size > 0 ? gst_pbf_socket_new (&link->address, error) : -1;
  if (link->fd < 0) {
    g_free (link);
    return NULL;
  }
  for (guint i = 0; i < MESSAGES; i++) {
    link->parts[i].iov_len = sizeof (CvisPbfResult);
    link->messages[i].msg_hdr.msg_name = &link->address;
    link->messages[i].msg_hdr.msg_namelen = size;
    link->messages[i].msg_hdr.msg_iov = &link->parts[i];
    link->messages[i].msg_hdr.msg_iovlen = 1;
  }
  return link;
}

void
gst_pbf_result_link_free (GstPbfResultLink *link)
{
  if (link == NULL)
    return;
  close (link->fd);
  g_free (link);
}

guint
gst_pbf_result_link_send (
    GstPbfResultLink *link, const CvisPbfResult *results, guint n)
{
  guint done = 0, sent = 0;

  while (done < n) {
    guint some = MIN (n - done, MESSAGES);
    gint ok;

    for (guint i = 0; i < some; i++)
      link->parts[i].iov_base = (gpointer) &results[done + i];
    ok = sendmmsg (link->fd, link->messages, some, MSG_DONTWAIT);
    if (ok > 0) {
      done += (guint) ok;
      sent += (guint) ok;
    } else if (errno != EINTR) {
      done++; /* skip it: the next one may succeed */
    }
  }
  return sent;
}
