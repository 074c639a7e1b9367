/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Included before every .cu file (see cuda/meson.build): CUDA's headers
 * before 13 define __noinline__ as a macro, which breaks GLib's attribute
 * tests. */
#pragma once

#ifdef __noinline__
#pragma push_macro("__noinline__")
#undef __noinline__
#include <glib.h>
#pragma pop_macro("__noinline__")
#endif
