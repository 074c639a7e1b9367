/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Heights as text, without a magic number: a matrix, one row a line; or
 * lines of x, y and z whose points form a grid, complete or with gaps. Cells
 * are separated by ';' or tabs (numbers may then contain ','), ',' or
 * blanks. Comments ('#' or '%') and one line of headings may come first and
 * name units; otherwise numbers are metres. A file is read twice: first for
 * its size. */
#include <math.h>
#include <string.h>
#include "cuda/core/decimal.h"
#include "cuda/surface/words.h"

#define MAX_HEADER (64 << 10)
#define MAX_SPARSE 3  /* grid positions for each point, at most */
#define TOLERANCE 0.1 /* of the spacing: point to grid position */
#define FEW_LINES 3   /* up to which three columns may also be a matrix */

/**
 * Header: text before the numbers
 * @start: byte position of the first line of numbers
 * @separator: of cells; ' ': any blanks
 * @units: of x, y, z in metres; @size: of a matrix in metres; 0: unknown
 */
typedef struct {
  guint64 start;
  gchar separator;
  guint columns;
  gdouble units[3];
  gdouble size[2];
  gchar *title;
} Header;

typedef struct {
  const Header *header;
  SurfaceWords words;
  guint64 line; /* lines of numbers, from 1 */
  guint cells;  /* cells of this line so far */
  gboolean due; /* after a separator: a cell follows, possibly empty */
} Text;

/* --- cells -------------------------------------------------------------------- */

static gboolean
is_blank (gchar c, gchar separator)
{
  return c == ' ' || c == '\r' || (c == '\t' && separator != '\t');
}

static gboolean
ends_cell (const gchar *at, const gchar *end, gchar separator)
{
  return at == end || *at == '\n' || *at == separator
         || is_blank (*at, separator);
}

/* A word for a missing point. Returns: its end; @at if there is none */
static const gchar *
skip_missing (const gchar *at, const gchar *end, gchar separator)
{
  static const gchar *const words[] = { "bad", "na", "n/a", "null", "none",
    "void", "missing", "-", "--", "---", "*", "**", "***", "*****" };
  const gchar *stop = at;

  while (!ends_cell (stop, end, separator))
    stop++;
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strlen (words[i]) == (gsize) (stop - at)
        && !g_ascii_strncasecmp (at, words[i], stop - at))
      return stop;
  return at;
}

/* Returns: the end of the cell; @at if it is not a number */
static const gchar *
read_value (const gchar *at, const gchar *end, const Header *header, gdouble *z)
{
  const gchar *stop = cvis_decimal_read (at, end, '.', z);

  if (stop < end && *stop == ',' && header->separator != ',')
    stop = cvis_decimal_read (at, end, ',', z);
  if (stop == at) {
    *z = NAN;
    stop = skip_missing (at, end, header->separator);
  }
  return ends_cell (stop, end, header->separator) ? stop : at;
}

/* Returns: the next character that is not blank; 0 at the end of the text,
 * and with @error */
static gchar
peek (Text *text, GError **error)
{
  SurfaceWords *words = &text->words;

  do
    for (; words->at < words->end; words->at++)
      if (!is_blank (*words->at, text->header->separator))
        return *words->at;
  while (surface_words_more (words, error));
  return 0;
}

static gboolean
refuse_cell (const Text *text, GError **error)
{
  const SurfaceWords *words = &text->words;
  const gchar *stop = words->at;
  gchar *shown;

  while (!ends_cell (
      stop, MIN (words->end, words->at + 40), text->header->separator))
    stop++;
  shown = surface_text ((const guint8 *) words->at, (gsize) (stop - words->at));
  surface_error (error,
      "has \"%s\" for cell %u of line %" G_GUINT64_FORMAT
      " of numbers (byte %" G_GUINT64_FORMAT "); a number is expected",
      shown ? shown : "", text->cells + 1, text->line,
      surface_words_tell (words));
  g_free (shown);
  return FALSE;
}

typedef enum { CELL_VALUE, CELL_LINE_END, CELL_END, CELL_ERROR } Cell;

/* Without columns in the header, the end of a line leaves text->due set. */
static Cell
read_cell (Text *text, gdouble *z, GError **error)
{
  const gchar separator = text->header->separator;
  SurfaceWords *words = &text->words;
  GError *problem = NULL;
  const gchar *stop;
  gchar c = peek (text, &problem);

  while (!problem && text->cells == 0 && (c == '#' || c == '%')) {
    for (; c != '\n' && c != 0; c = peek (text, &problem))
      words->at++;
  }
  if (problem) {
    g_propagate_error (error, problem);
    return CELL_ERROR;
  }
  *z = NAN;
  if (c == 0 || c == '\n') {
    /* otherwise a separator ends the line */
    if (text->due && text->cells < text->header->columns) {
      text->due = FALSE;
      return CELL_VALUE;
    }
    text->due &= text->header->columns == 0;
    words->at += c == '\n';
    return c ? CELL_LINE_END : CELL_END;
  }
  if (separator == ' ' || c != separator) {
    stop = read_value (words->at, words->end, text->header, z);
    if (stop == words->at) {
      refuse_cell (text, error);
      return CELL_ERROR;
    }
    words->at = stop;
    c = peek (text, &problem);
    if (problem) {
      g_propagate_error (error, problem);
      return CELL_ERROR;
    }
  }
  text->due = separator != ' ' && c == separator;
  words->at += text->due;
  return CELL_VALUE;
}

/* Skips empty lines. @values: (nullable): for as many cells as there are
 * columns. Returns: CELL_LINE_END after a line, CELL_END, CELL_ERROR */
static Cell
read_line (Text *text, gdouble *values, GError **error)
{
  const guint columns = text->header->columns;
  gdouble z;

  for (;;) {
    const Cell cell = read_cell (text, &z, error);

    if (cell == CELL_ERROR)
      return cell;
    if (cell == CELL_VALUE) {
      if (text->cells < columns && values)
        values[text->cells] = z;
      text->cells++;
    } else if (text->cells > 0) {
      if (text->cells != columns) {
        surface_error (error,
            "has %u numbers in line %" G_GUINT64_FORMAT
            " of numbers (up to byte %" G_GUINT64_FORMAT "); the first has %u",
            text->cells, text->line, surface_words_tell (&text->words),
            columns);
        return CELL_ERROR;
      }
      text->cells = 0;
      text->line++;
      return CELL_LINE_END;
    } else if (cell == CELL_END) {
      return cell;
    }
  }
}

static void
text_init (Text *text, const Header *header, const SurfaceSource *source)
{
  *text = (Text){ .header = header, .line = 1 };
  surface_words_init (&text->words, source, header->start);
}

/* --- the header ---------------------------------------------------------------- */

static const gchar *
find_line_end (const gchar *at, const gchar *end)
{
  const gchar *newline = memchr (at, '\n', (gsize) (end - at));

  return newline ? newline : end;
}

static void
choose_separator (const gchar *at, const gchar *end, Header *header)
{
  const gsize n = (gsize) (end - at);

  header->separator = memchr (at, ';', n)    ? ';'
                      : memchr (at, '\t', n) ? '\t'
                      : memchr (at, ',', n)  ? ','
                                             : ' ';
}

/* Counts the cells of the line up to @end. Returns: 0 if it is not a line of
 * numbers */
static guint
count_cells (const gchar *at, const gchar *end, const Header *header)
{
  const Header known = { .separator = header->separator };
  const SurfaceSource source = { .data = (const guint8 *) at,
    .size = (guint64) (end - at) };
  gboolean number = FALSE;
  Text text;
  Cell cell;

  text_init (&text, &known, &source);
  do {
    gdouble z;

    cell = read_cell (&text, &z, NULL);
    text.cells += cell == CELL_VALUE;
    number |= cell == CELL_VALUE && !isnan (z);
  } while (cell == CELL_VALUE);
  surface_words_clear (&text.words);
  return cell == CELL_END && number ? text.cells + (text.due != 0) : 0;
}

/* Parses "Width: 10 um" and the like, as written by Gwyddion */
static gboolean
read_comment (const gchar *at, const gchar *end, Header *header, GError **error)
{
  static const gchar *const names[] = { "width", "height", "value units",
    "channel" };
  gchar *line = g_strndup (at, (gsize) (end - at)), *colon = strchr (line, ':');
  gboolean ok = TRUE;

  if (colon) {
    gchar *value = g_strstrip (colon + 1), *unit = value;
    gdouble metres, number = 1;
    guint i = 0;

    *colon = 0;
    g_strstrip (line);
    while (i < G_N_ELEMENTS (names) && g_ascii_strcasecmp (line, names[i]))
      i++;
    if (i < 2)
      unit = (gchar *) cvis_decimal_read (
          value, value + strlen (value), '.', &number);
    metres = surface_unit (g_strstrip (unit));
    if (i < 3 && metres == 0)
      ok = surface_error (error, "has \"%.20s\" for %s, which is not a length",
          value, names[i]);
    else if (i < 2)
      ok = surface_check_spacing (
          names[i], header->size[i] = number * metres, error);
    else if (i == 2)
      header->units[2] = metres;
    else if (i == 3 && !header->title)
      header->title = surface_text ((const guint8 *) value, strlen (value));
  }
  g_free (line);
  return ok;
}

/* Parses "x [um]; y [um]; z (nm)": the units of three columns */
static gboolean
read_headings (
    const gchar *at, const gchar *end, Header *header, GError **error)
{
  gchar *line = g_strndup (at, (gsize) (end - at)), *c = line;
  gboolean ok = TRUE;
  guint n = 0;

  while (ok && n < 3 && (c = strpbrk (c, "[("))) {
    gchar *close = strpbrk (++c, "])");

    if (!close)
      break;
    *close = 0;
    header->units[n] = surface_unit (g_strstrip (c));
    if (header->units[n] == 0) {
      gchar *shown = surface_text ((const guint8 *) c, strlen (c));

      ok = surface_error (error,
          "has a heading with the unit \"%.20s\", which is no unit of length",
          shown ? shown : "");
      g_free (shown);
    }
    n++;
    c = close + 1;
  }
  g_free (line);
  return ok;
}

/* Parses up to the first line of numbers, which need not be complete in
 * @data. @header has columns if there is such a line, even with @error.
 * Returns: FALSE with @error */
static gboolean
read_header (const guint8 *data, gsize size, Header *header, GError **error)
{
  const gchar *text = (const gchar *) data, *end = text + size, *at = text;
  GError *problem = NULL;
  guint headings = 0;
  gboolean ok = TRUE;

  *header = (Header){ .columns = 0 };
  if (size >= 3 && !memcmp (data, "\xef\xbb\xbf", 3))
    at += 3;
  for (; at < end; at = find_line_end (at, end) + 1) {
    const gchar *stop = find_line_end (at, end), *last = stop;

    while (at < stop && (is_blank (*at, ' ') || *at == '\t'))
      at++;
    if (at == stop || *at == '\r')
      continue;
    if (*at == '#' || *at == '%') {
      ok = ok && read_comment (at + 1, stop, header, &problem);
      continue;
    }
    choose_separator (at, stop, header);
    /* the last cell may be truncated */
    while (stop == end && last > at
           && !ends_cell (last - 1, end, header->separator))
      last--;
    header->columns = count_cells (at, last > at ? last : stop, header);
    header->start = (guint64) (at - text);
    if (header->columns > 0 || headings++ > 0)
      break;
    ok = ok && read_headings (at, stop, header, &problem);
  }
  if (header->columns == 0) {
    g_clear_error (&problem);
    return surface_error (error, "has no line of numbers");
  }
  if (!ok)
    g_propagate_error (error, problem);
  return ok;
}

static gboolean
is_text (const guint8 *data, gsize size)
{
  for (gsize i = 0; i < size; i++)
    if (data[i] == 0x7f
        || (data[i] < 0x20 && !strchr ("\t\r\n", (gchar) data[i])))
      return FALSE;
  return memchr (data, 0, size) == NULL;
}

gboolean
surface_detect_text (const guint8 *data, gsize size)
{
  const gsize n = MIN (size, SURFACE_FILE_START);
  Header header;

  if (!is_text (data, n))
    return FALSE;
  read_header (data, n, &header, NULL);
  g_free (header.title);
  return header.columns > 1;
}

/* Counts the cells of the next line, without an empty one after its last
 * separator; 0 at the end. @open: (out): whether a separator ends the line */
static guint
count_line (Text *text, gboolean *open, GError **error)
{
  gdouble z;
  Cell cell;

  text->due = FALSE;
  do {
    text->cells = 0;
    while ((cell = read_cell (text, &z, error)) == CELL_VALUE)
      text->cells++;
  } while (cell == CELL_LINE_END && text->cells == 0);
  *open = text->due;
  return cell == CELL_ERROR ? 0 : text->cells;
}

/* Counts the cells of the first line of numbers, of any length. If a
 * separator ends it, the second line shows whether another cell follows. */
static gboolean
count_columns (Header *header, const SurfaceSource *source, GError **error)
{
  guint columns, second;
  gboolean open;
  Text text;

  header->columns = 0;
  text_init (&text, header, source);
  columns = count_line (&text, &open, error);
  if (columns > 0 && open) {
    second = count_line (&text, &open, NULL);
    columns += second == columns + 1;
  }
  surface_words_clear (&text.words);
  header->columns = columns;
  if (columns == 0 && error && !*error)
    surface_error (error, "has no line of numbers");
  return columns > 0;
}

/* --- a matrix ------------------------------------------------------------------ */

static gboolean
count_lines (const Header *header, const SurfaceSource *source, guint64 *lines,
    GError **error)
{
  Text text;
  Cell cell;

  text_init (&text, header, source);
  do
    cell = read_line (&text, NULL, error);
  while (cell == CELL_LINE_END);
  *lines = text.line - 1;
  surface_words_clear (&text.words);
  return cell == CELL_END;
}

static SurfaceImage *
read_matrix (const Header *header, const SurfaceSource *source, GError **error)
{
  SurfaceImage *image = NULL;
  gboolean ok = TRUE;
  guint64 lines;
  Text text;

  if (!count_lines (header, source, &lines, error)
      || !surface_check_size (header->columns, lines, error))
    return NULL;
  image = surface_image_new (header->columns, (guint) lines, error);
  if (!image)
    return NULL;
  image->dx = header->size[0] / image->width;
  image->dy = header->size[1] / image->height;
  text_init (&text, header, source);
  for (guint y = 0; ok && y < image->height; y++)
    ok = read_line (&text, image->z + (gsize) y * image->width, error)
         == CELL_LINE_END;
  surface_words_clear (&text.words);
  if (ok) {
    surface_image_scale (image, header->units[2] ? header->units[2] : 1, 0);
    return image;
  }
  surface_image_free (image);
  if (error && !*error)
    surface_error (error, "became shorter while it was read");
  return NULL;
}

/* --- points -------------------------------------------------------------------- */

/* Coordinate x or y of all points
 * @step: smallest distance between consecutive points; 0: all are equal
 * @sign: of the first step */
typedef struct {
  gdouble low, high, step;
  gint sign;
} Axis;

/* @run: number of points until both coordinates have changed */
typedef struct {
  Axis axes[2];
  guint64 n, run;
} Extent;

/* Number of grid positions along each axis */
typedef struct {
  guint64 n[2];
} Grid;

static void
add_to_axis (Axis *axis, gdouble value, gdouble last, gboolean first)
{
  const gdouble step = first ? 0 : value - last;

  axis->low = first ? value : MIN (axis->low, value);
  axis->high = first ? value : MAX (axis->high, value);
  if (step == 0)
    return;
  if (axis->sign == 0)
    axis->sign = step > 0 ? 1 : -1;
  axis->step = axis->step == 0 ? fabs (step) : MIN (axis->step, fabs (step));
}

static gboolean
measure_points (const Header *header, const SurfaceSource *source,
    Extent *extent, GError **error)
{
  gdouble point[3], last[3] = { 0 };
  Text text;
  Cell cell;

  *extent = (Extent){ .n = 0 };
  text_init (&text, header, source);
  while ((cell = read_line (&text, point, error)) == CELL_LINE_END) {
    if (!isfinite (point[0]) || !isfinite (point[1])) {
      surface_error (error,
          "has no x or y in line %" G_GUINT64_FORMAT
          " of numbers (up to byte %" G_GUINT64_FORMAT ")",
          text.line - 1, surface_words_tell (&text.words));
      cell = CELL_ERROR;
      break;
    }
    for (guint i = 0; i < 2; i++)
      add_to_axis (&extent->axes[i], point[i], last[i], extent->n == 0);
    extent->n++;
    if (!extent->run && extent->axes[0].sign && extent->axes[1].sign)
      extent->run = extent->n - 1;
    memcpy (last, point, sizeof (last));
  }
  surface_words_clear (&text.words);
  if (!extent->run)
    extent->run = extent->n;
  return cell == CELL_END;
}

/* Complete grid: rows or columns of the same length. Returns: %FALSE if
 * impossible */
static gboolean
find_complete_grid (const Extent *extent, gboolean columns, Grid *grid)
{
  grid->n[columns] = extent->run;
  grid->n[!columns] = extent->n / extent->run;
  return grid->n[0] * grid->n[1] == extent->n;
}

/* Grid with gaps: as many positions as fit between the outermost points */
static gboolean
find_sparse_grid (const Extent *extent, Grid *grid)
{
  for (guint i = 0; i < 2; i++) {
    const Axis *axis = &extent->axes[i];
    const gdouble n =
        axis->step ? rint ((axis->high - axis->low) / axis->step) + 1 : 1;

    if (!(n <= G_MAXUINT32))
      return FALSE;
    grid->n[i] = (guint64) n;
  }
  return grid->n[0] * grid->n[1] <= MIN (extent->n, G_MAXUINT32) * MAX_SPARSE
         && grid->n[0] * grid->n[1] >= extent->n;
}

static gdouble
spacing_of (const Axis *axis, guint64 n)
{
  return n > 1 ? (axis->high - axis->low) / (gdouble) (n - 1) : 0;
}

/* The first point is at the top left. Returns: FALSE if it is off its grid
 * position */
static gboolean
find_place (const Axis *axis, guint64 n, gdouble value, guint64 *place)
{
  const gdouble spacing = spacing_of (axis, n);
  const gdouble from_first =
      axis->sign > 0 ? value - axis->low : axis->high - value;
  const gdouble at = spacing ? from_first / spacing : 0;

  if (n == 1 ? axis->sign != 0 : spacing == 0)
    return FALSE;
  if (!(at > -0.5 && at < (gdouble) n && fabs (at - rint (at)) <= TOLERANCE))
    return FALSE;
  *place = (guint64) rint (at);
  return TRUE;
}

/* Returns: FALSE if a point is off its grid position, and with @error */
static gboolean
place_points (const Header *header, const SurfaceSource *source,
    const Extent *extent, SurfaceImage *image, GError **error)
{
  gdouble point[3];
  gboolean ok = TRUE;
  guint64 x, y;
  Text text;

  for (gsize i = 0; i < (gsize) image->width * image->height; i++)
    image->z[i] = NAN;
  text_init (&text, header, source);
  while (ok && read_line (&text, point, error) == CELL_LINE_END) {
    ok = find_place (&extent->axes[0], image->width, point[0], &x)
         && find_place (&extent->axes[1], image->height, point[1], &y)
         && x < image->width && y < image->height;
    if (ok)
      image->z[y * image->width + x] = point[2];
  }
  surface_words_clear (&text.words);
  return ok;
}

/* Returns: %NULL if the points form no such grid, and with @error */
static SurfaceImage *
read_grid (const Header *header, const SurfaceSource *source,
    const Extent *extent, const Grid *grid, GError **error)
{
  GError *problem = NULL;
  SurfaceImage *image;

  if (!surface_check_size (grid->n[0], grid->n[1], error))
    return NULL;
  image = surface_image_new ((guint) grid->n[0], (guint) grid->n[1], error);
  if (!image)
    return NULL;
  image->dx = spacing_of (&extent->axes[0], grid->n[0])
              * (header->units[0] ? header->units[0] : 1);
  image->dy = spacing_of (&extent->axes[1], grid->n[1])
              * (header->units[1] ? header->units[1] : 1);
  if (!isfinite (image->dx) || !isfinite (image->dy)) {
    surface_image_free (image);
    return NULL;
  }
  if (place_points (header, source, extent, image, &problem) && !problem) {
    surface_image_scale (image, header->units[2] ? header->units[2] : 1, 0);
    return image;
  }
  if (problem)
    g_propagate_error (error, problem);
  surface_image_free (image);
  return NULL;
}

static SurfaceImage *
read_points (const Header *header, const SurfaceSource *source, GError **error)
{
  SurfaceImage *image = NULL;
  GError *problem = NULL;
  Extent extent;
  Grid grid;

  if (!measure_points (header, source, &extent, error))
    return NULL;
  for (guint columns = 0; columns < 2 && !image && !problem; columns++)
    if (find_complete_grid (&extent, columns, &grid))
      image = read_grid (header, source, &extent, &grid, &problem);
  if (!image && !problem && extent.n <= FEW_LINES)
    return read_matrix (header, source, error);
  if (!image && !problem && find_sparse_grid (&extent, &grid))
    image = read_grid (header, source, &extent, &grid, &problem);
  if (!image && !problem)
    surface_error (&problem,
        "has three columns, and their %" G_GUINT64_FORMAT
        " points x, y, z form no regular grid",
        extent.n);
  if (problem)
    g_propagate_error (error, problem);
  return image;
}

SurfaceImage *
surface_read_text (const SurfaceSource *source, GError **error)
{
  const gsize n = (gsize) MIN (source->size, MAX_HEADER);
  guint8 *head = g_malloc (n);
  SurfaceImage *image = NULL;
  Header header = { 0 };

  if (surface_source_read (source, 0, n, head, error)
      && read_header (head, n, &header, error)
      && count_columns (&header, source, error))
    image = header.columns == 3 ? read_points (&header, source, error)
                                : read_matrix (&header, source, error);
  if (image)
    image->title = g_steal_pointer (&header.title);
  g_free (header.title);
  g_free (head);
  return image;
}
