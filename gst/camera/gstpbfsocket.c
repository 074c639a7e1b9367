/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstpbfsocket.h"

#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

void
gst_pbf_socket_set_error (GError **error)
{
  gint code = errno;

  g_set_error_literal (
      error, G_FILE_ERROR, g_file_error_from_errno (code), g_strerror (code));
}

void
gst_pbf_socket_set_bind_error (GError **error)
{
  gint code = errno;

  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), "%s. %s",
      g_strerror (code),
      code == EADDRINUSE ? "Set another port, or end the program that uses it"
      : code == EADDRNOTAVAIL
          ? "Set address to one of this machine, or to 0.0.0.0"
      : code == EACCES ? "Set a port from 1024 on"
                       : "Set another address or port");
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
    if (code == EAI_SYSTEM)
      gst_pbf_socket_set_error (error);
    else
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
          "the host was not found (%s). Check the name, or set an address",
          gai_strerror (code));
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

/* --- multicast ------------------------------------------------------------- */

gboolean
gst_pbf_socket_is_multicast (const struct sockaddr_storage *address)
{
  const struct sockaddr_in *v4 = (const struct sockaddr_in *) address;
  const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *) address;

  return address->ss_family == AF_INET6
             ? IN6_IS_ADDR_MULTICAST (&v6->sin6_addr)
             : IN_MULTICAST (g_ntohl (v4->sin_addr.s_addr));
}

/* Names of the interfaces of this machine, separated by commas. */
static gchar *
list_interfaces (void)
{
  struct if_nameindex *all = if_nameindex ();
  GString *names = g_string_new (NULL);

  for (guint i = 0; all != NULL && all[i].if_index > 0; i++)
    g_string_append_printf (
        names, "%s%s", names->len > 0 ? ", " : "", all[i].if_name);
  if (all != NULL)
    if_freenameindex (all);
  return g_string_free (names, FALSE);
}

static gboolean
find_interface (const gchar *name, guint *index, GError **error)
{
  gchar *names;

  *index = *name != '\0' ? if_nametoindex (name) : 0;
  if (*index > 0 || *name == '\0')
    return TRUE;
  names = list_interfaces ();
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NXIO,
      "there is no network interface \"%s\". Set multicast-iface to one of "
      "this machine: %s",
      name, names);
  g_free (names);
  return FALSE;
}

gboolean
gst_pbf_socket_check_interface (const gchar *iface, GError **error)
{
  guint index;

  return find_interface (iface, &index, error);
}

gboolean
gst_pbf_socket_join (gint fd, const struct sockaddr_storage *address,
    const gchar *iface, GError **error)
{
  const gint on = 1;
  guint index;
  gint failed;

  if (!find_interface (iface, &index, error))
    return FALSE;
  failed = setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (failed == 0 && address->ss_family == AF_INET6) {
    struct ipv6_mreq request = {
      ((const struct sockaddr_in6 *) address)->sin6_addr, index
    };

    failed = setsockopt (
        fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof request);
  } else if (failed == 0) {
    struct ip_mreqn request = {
      .imr_multiaddr = ((const struct sockaddr_in *) address)->sin_addr,
      .imr_ifindex = (gint) index,
    };

    failed = setsockopt (
        fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request);
  }
  if (failed != 0)
    gst_pbf_socket_set_error (error);
  return failed == 0;
}

gboolean
gst_pbf_socket_send_through (gint fd, const struct sockaddr_storage *address,
    const gchar *iface, GError **error)
{
  guint index;
  gint failed;

  if (!find_interface (iface, &index, error))
    return FALSE;
  if (address->ss_family == AF_INET6) {
    failed =
        setsockopt (fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index);
  } else {
    struct ip_mreqn request = { .imr_ifindex = (gint) index };

    failed =
        setsockopt (fd, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request);
  }
  if (failed != 0)
    gst_pbf_socket_set_error (error);
  return failed == 0;
}
