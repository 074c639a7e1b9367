/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* UDP sockets of the camera link and of results. */
#pragma once

#include <gst/gst.h>
#include <sys/socket.h>

G_BEGIN_DECLS

#define GST_PBF_DEFAULT_PORT 5500

/**
 * gst_pbf_socket_resolve:
 * @host: name or address
 * @address: (out): the first address of @host, with @port
 *
 * Returns: its size; 0 with @error: there is none
 */
socklen_t gst_pbf_socket_resolve (const gchar *host, guint port,
    struct sockaddr_storage *address, GError **error);

/* Returns: a UDP socket for addresses such as @address, which does not block; -1
 * with @error */
gint gst_pbf_socket_new (
    const struct sockaddr_storage *address, GError **error);

/* Whether @address is one of a multicast group. */
gboolean gst_pbf_socket_is_multicast (const struct sockaddr_storage *address);
/* @fd receives what is sent to the multicast group @address, also where other
 * sockets do. @iface: name of the interface; empty: the system's choice. Before
 * bind(). */
gboolean gst_pbf_socket_join (gint fd, const struct sockaddr_storage *address,
    const gchar *iface, GError **error);
/* @fd sends to multicast groups through @iface; empty: the system's choice. */
gboolean gst_pbf_socket_send_through (gint fd,
    const struct sockaddr_storage *address, const gchar *iface, GError **error);

/* Sets @error to the text of errno. */
void gst_pbf_socket_set_error (GError **error);

G_END_DECLS
