# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records, vectors and surfaces as NumPy arrays.

GObject introspection shows the fields of a record one by one; these functions give
whole records as structured arrays, whose fields have the names of those of the C
structs. The arrays are copies, read only, and stay valid when the buffer is freed. NumPy is
imported with the first array."""
from ..module import get_introspection_module

GstCudaVision = get_introspection_module("GstCudaVision")
__all__ = ["PBF_FEATURE_NAMES", "pbf_results_from_buffer", "record_dtype",
           "surface_from_buffer"]

_SPATIAL = (["mp_area", "spatter_area", "spatter_count", "mp_ratio", "mp_mean"]
            + [f"polar_{i}" for i in range(6)] + [f"hog_{i}" for i in range(9)])
# of PbfResult.features, in their order
PBF_FEATURE_NAMES = _SPATIAL + ["var_" + name for name in _SPATIAL]

_SCALARS = {"gint8": "<i1", "guint8": "<u1", "gint16": "<i2", "guint16": "<u2",
            "gint32": "<i4", "guint32": "<u4", "gint64": "<i8", "guint64": "<u8",
            "gfloat": "<f4", "gdouble": "<f8"}


def _get_struct_dtype(info):
    import numpy
    fields = info.get_fields()
    return numpy.dtype({
        "names": [field.get_name() for field in fields],
        "formats": [_get_type_dtype(field.get_type()) for field in fields],
        "offsets": [field.get_offset() for field in fields],
        "itemsize": info.get_size()})


def _get_type_dtype(type_info):
    tag = type_info.get_tag_as_string()
    if tag == "array":
        return (_get_type_dtype(type_info.get_param_type(0)),
                type_info.get_array_fixed_size())
    if tag == "interface":
        return _get_struct_dtype(type_info.get_interface())
    return _SCALARS[tag]


def record_dtype(record):
    """The structured dtype of MotionVector, MotionBlock, MotionPacket,
    MotionPacketField, PbfSignal or PbfResult."""
    return _get_struct_dtype(record.__info__)


def _get_array(data, record):
    import numpy
    return numpy.frombuffer(data, record_dtype(record))


def _get_grid(meta, data, record):
    return _get_array(data.get_data(), record).reshape(meta.packet.rows,
                                                       meta.packet.columns)


def _get_vector_array(self):
    """(rows, columns) of MotionVector: x and y in quarter pixels, cost."""
    return _get_grid(self, self.get_vector_bytes(), GstCudaVision.MotionVector)


def _get_block_array(self):
    """(rows, columns) of MotionBlock."""
    return _get_grid(self, self.get_block_bytes(), GstCudaVision.MotionBlock)


def _get_confidence_array(self):
    """(rows, columns) of int16: the probability that the vector is within a pixel of the
    motion, in 1/256; -1 if the search method gives none."""
    import numpy
    flags = self.get_block_array()["flags"]
    rated = flags & int(GstCudaVision.MotionBlockFlags.RATED) != 0
    return numpy.where(rated, flags >> 24, -1).astype(numpy.int16)


def _get_result_array(self):
    """The PbfResult as an array without dimensions: array["features"]."""
    return _get_array(self.get_result_bytes().get_data(),
                      GstCudaVision.PbfResult)[0]


GstCudaVision.MotionVectorMeta.get_vector_array = _get_vector_array
GstCudaVision.MotionVectorMeta.get_block_array = _get_block_array
GstCudaVision.MotionVectorMeta.get_confidence_array = _get_confidence_array
GstCudaVision.PbfMeta.get_result_array = _get_result_array


def pbf_results_from_buffer(buffer):
    """The PbfResult records of a buffer of application/x-pbf-result."""
    return _get_array(buffer.extract_dup(0, buffer.get_size()),
                      GstCudaVision.PbfResult)


def surface_from_buffer(buffer, caps):
    """(height, width) samples of a buffer with the caps of a surface."""
    import numpy
    info = GstCudaVision.SurfaceInfo.from_caps(caps)
    dtype = {GstCudaVision.SurfaceType.FLOAT32: "f4",
             GstCudaVision.SurfaceType.FLOAT64: "f8",
             GstCudaVision.SurfaceType.INT32: "i4"}[info.type]
    return numpy.frombuffer(buffer.extract_dup(0, info.get_size()),
                            dtype).reshape(info.height, info.width)
