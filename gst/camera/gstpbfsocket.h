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
 * Returns: the size of the address; 0 with @error if there is none
 */
socklen_t gst_pbf_socket_resolve (const gchar *host, guint port,
    struct sockaddr_storage *address, GError **error);

/* Returns: a non-blocking UDP socket for the address family of @address; -1 with
 * @error */
gint gst_pbf_socket_new (
    const struct sockaddr_storage *address, GError **error);

/* Whether @address is that of a multicast group. */
gboolean gst_pbf_socket_is_multicast (const struct sockaddr_storage *address);
/* Returns: FALSE with @error, which lists the interfaces, if @iface is neither one of
 * them nor empty */
gboolean gst_pbf_socket_check_interface (const gchar *iface, GError **error);
/* Joins the multicast group @address with @fd, which other sockets may have joined
 * too. Called before bind().
 * @iface: name of the interface; empty: the system's choice */
gboolean gst_pbf_socket_join (gint fd, const struct sockaddr_storage *address,
    const gchar *iface, GError **error);
/* Has @fd send to multicast groups through @iface; empty: the system's choice. */
gboolean gst_pbf_socket_send_through (gint fd,
    const struct sockaddr_storage *address, const gchar *iface, GError **error);

/* Sets @error to the text of errno after a failed bind(), and what to do. */
void gst_pbf_socket_set_bind_error (GError **error);
/* Sets @error to the text of errno. */
void gst_pbf_socket_set_error (GError **error);

G_END_DECLS
