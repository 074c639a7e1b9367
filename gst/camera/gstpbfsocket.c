/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstpbfsocket.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>

void
gst_pbf_socket_set_error (GError **error)
{
  gint code = errno;

  g_set_error_literal (
      error, G_FILE_ERROR, g_file_error_from_errno (code), g_strerror (code));
}

socklen_t
gst_pbf_socket_resolve (const gchar *host, guint port,
    struct sockaddr_storage *address, GError **error)
{
  struct addrinfo hints = { .ai_socktype = SOCK_DGRAM,
    .ai_flags = AI_NUMERICSERV };
  struct addrinfo *found;
  socklen_t size;
  gchar service[8];
  gint code;

  g_snprintf (service, sizeof service, "%u", port);
  code = getaddrinfo (host, service, &hints, &found);
  if (code != 0) {
    g_set_error_literal (
        error, G_FILE_ERROR, G_FILE_ERROR_FAILED, gai_strerror (code));
    return 0;
  }
  size = found->ai_addrlen;
  memcpy (address, found->ai_addr, size);
  freeaddrinfo (found);
  return size;
}

gint
gst_pbf_socket_new (const struct sockaddr_storage *address, GError **error)
{
  gint fd =
      socket (address->ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

  if (fd < 0)
    gst_pbf_socket_set_error (error);
  return fd;
}
