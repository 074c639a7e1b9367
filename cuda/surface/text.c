/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Heights as text, without a magic number: a matrix, one row a line; lines of
 * x, y and z whose points form a grid, complete or with gaps, in any order; or
 * lines of x and z of a profile. Cells are separated by ';' or tabs (numbers
 * may then contain ','), ',' or blanks. Comments ('#' or '%') and lines of
 * headings may come first and name units; otherwise numbers are metres. A file
 * is read twice: first for its size. UTF-16 needs a byte order mark. Wyko's
 * text files have a matrix for each of their blocks. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cuda/core/decimal.h"
#include "cuda/surface/words.h"

#define MAX_HEADER (64 << 10)
#define TOLERANCE 0.1 /* of the spacing: point to grid position */
#define FEW_LINES 3   /* up to which columns of points may also be a matrix */
#define TALL 10     /* lines for each of a few columns: a matrix is unlikely */
#define MAX_POINT 6 /* columns of a line with x, y, z and other values */
#define WYKO "Wyko ASCII Data File Format"

/**
 * Header: text before the numbers
 * @start: byte position of the first line of numbers
 * @separator: of cells; ' ': any blanks
 * @units: of x, y, z in metres; @size: of a matrix in metres; 0: unknown
 * @cell: spacing of a matrix, without a unit; 0: unknown
 * @missing: height of missing points; NaN: none
 */
typedef struct {
  guint64 start;
  gchar separator;
  guint columns;
  gdouble units[3];
  gdouble size[2];
  gdouble cell, missing;
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
is_text_blank (gchar c, gchar separator)
{
  return c == ' ' || c == '\r' || (c == '\t' && separator != '\t');
}

static gboolean
ends_cell (const gchar *at, const gchar *end, gchar separator)
{
  return at == end || *at == '\n' || *at == separator
         || is_text_blank (*at, separator);
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
read_text_value (
    const gchar *at, const gchar *end, const Header *header, gdouble *z)
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
      if (!is_text_blank (*words->at, text->header->separator))
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
    stop = read_text_value (words->at, words->end, text->header, z);
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

/* Labels that Gwyddion writes, in the languages of its user interface */
static gint
find_label (const gchar *name)
{
  static const gchar *const labels[][8] = {
    { "width", "breite", "largeur", "larghezza", "anchura", "largura",
        "\305\240\303\255\305\231ka",
        "\320\250\320\270\321\200\320\270\320\275\320\260" },
    { "height", "h\303\266he", "hauteur", "altezza", "altura", NULL,
        "V\303\275\305\241ka",
        "\320\222\321\213\321\201\320\276\321\202\320\260" },
    { "value units", "einheiten", "unit\303\251s", "unit\303\240 valore",
        "unidades", "unidades de valor", "jednotky hodnot",
        "\320\225\320\264\320\270\320\275\320\270\321\206\321\213 "
        "\320\270\320\267\320\274\320\265\321\200\320\265\320\275\320\270"
        "\321\217" },
    { "channel", "kanal", "canal", "canale", NULL, NULL, "kan\303\241l",
        "\320\232\320\260\320\275\320\260\320\273" },
  };

  for (gint i = 0; i < (gint) G_N_ELEMENTS (labels); i++)
    for (guint k = 0; k < G_N_ELEMENTS (labels[i]); k++)
      if (labels[i][k] && !g_ascii_strcasecmp (name, labels[i][k]))
        return i;
  return -1;
}

/* Parses "Width: 10 um" and the like, as written by Gwyddion */
static gboolean
read_size (const gchar *name, gchar *value, Header *header, GError **error)
{
  static const gchar *const names[] = { "width", "height", "value units" };
  const gint i = find_label (name);
  gdouble metres, number = 1;
  gchar *unit = value;

  if (i < 0)
    return TRUE;
  if (i < 2)
    unit = (gchar *) cvis_decimal_read (
        value, value + strlen (value), '.', &number);
  metres = surface_unit (g_strstrip (unit));
  if (i < 2 && unit > value && *unit == 0) /* a number of points */
    return TRUE;
  if (i < 3 && metres == 0)
    return surface_error (
        error, "has \"%.20s\" for %s, which is not a length", value, names[i]);
  if (i < 2)
    return surface_check_spacing (
        names[i], header->size[i] = number * metres, error);
  if (i == 2)
    header->units[2] = metres;
  else if (i == 3 && !header->title)
    header->title = surface_text ((const guint8 *) value, strlen (value));
  return TRUE;
}

/* Parses "cellsize 2" and "NODATA_value -9999" of Esri's grids */
static gboolean
read_grid_field (const gchar *line, Header *header, GError **error)
{
  static const gchar *const names[] = { "cellsize", "nodata_value" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const gchar *value = line + strlen (names[i]);
    gdouble number;

    if (g_ascii_strncasecmp (line, names[i], strlen (names[i]))
        || !strchr (" \t:=", *value) || *value == 0)
      continue;
    value += strspn (value, " \t:=");
    if (!surface_number (value, &number))
      return surface_error (
          error, "has \"%.20s\" for %s, which is no number", value, names[i]);
    if (i == 1)
      header->missing = number;
    else if (!surface_check_spacing (names[i], header->cell = number, error))
      return FALSE;
  }
  return TRUE;
}

/* A comment or a line of headings */
static gboolean
read_field (const gchar *at, const gchar *end, Header *header, GError **error)
{
  gchar *line = g_strstrip (g_strndup (at, (gsize) (end - at)));
  gboolean ok = read_grid_field (line, header, error);
  gchar *colon = strchr (line, ':');

  if (ok && colon) {
    *colon = 0;
    ok = read_size (g_strchomp (line), g_strstrip (colon + 1), header, error);
  }
  g_free (line);
  return ok;
}

/* Index of the column that @at of the heading @line is in. @n: units before it.
 * Between blanks only the order of the units tells. */
static guint
find_column (const gchar *line, const gchar *at, guint n)
{
  Header cells = { 0 };
  guint column = 0;

  choose_separator (line, line + strlen (line), &cells);
  if (cells.separator == ' ')
    return n;
  for (const gchar *c = line; c < at; c++)
    column += *c == cells.separator;
  return column;
}

/* Parses "x [um]; y [um]; z (nm)": the units of columns */
static gboolean
read_headings (
    const gchar *at, const gchar *end, Header *header, GError **error)
{
  gchar *line = g_strndup (at, (gsize) (end - at)), *c = line;
  gchar *whole = g_strdup (line); /* line is cut below */
  gboolean ok = TRUE;

  for (guint n = 0; ok && (c = strpbrk (c, "[(")); n++) {
    const guint column = find_column (whole, whole + (c - line), n);
    gchar *close = strpbrk (++c, "])");

    if (!close || column >= G_N_ELEMENTS (header->units))
      break;
    *close = 0;
    header->units[column] = surface_unit (g_strstrip (c));
    if (header->units[column] == 0) {
      gchar *shown = surface_text ((const guint8 *) c, strlen (c));

      ok = surface_error (error,
          "has a heading with the unit \"%.20s\", which is no unit of length",
          shown ? shown : "");
      g_free (shown);
    }
    c = close + 1;
  }
  g_free (whole);
  g_free (line);
  return ok;
}

/* The heading line above the numbers, which names their units */
typedef struct {
  const gchar *at, *end;
} Heading;

/* Parses up to the first line of numbers, which need not be complete in
 * @data. @header has columns if there is such a line, even with @error.
 * Returns: FALSE with @error */
static gboolean
read_text_header (
    const guint8 *data, gsize size, Header *header, GError **error)
{
  const gchar *text = (const gchar *) data, *end = text + size, *at = text;
  Heading heading = { 0 };
  GError *problem = NULL;
  gboolean ok = TRUE;

  *header = (Header){ .missing = NAN };
  if (size >= 3 && !memcmp (data, "\xef\xbb\xbf", 3))
    at += 3;
  for (; at < end; at = find_line_end (at, end) + 1) {
    const gchar *stop = find_line_end (at, end), *last = stop;

    while (at < stop && (is_text_blank (*at, ' ') || *at == '\t'))
      at++;
    if (at == stop || *at == '\r')
      continue;
    if (*at == '#' || *at == '%') {
      ok = ok && read_field (at + 1, stop, header, &problem);
      continue;
    }
    choose_separator (at, stop, header);
    /* the last cell may be truncated */
    while (stop == end && last > at
           && !ends_cell (last - 1, end, header->separator))
      last--;
    header->columns = count_cells (at, last > at ? last : stop, header);
    header->start = (guint64) (at - text);
    if (header->columns > 0)
      break;
    ok = ok && read_field (at, stop, header, &problem);
    heading = (Heading){ at, stop };
  }
  if (header->columns == 0) {
    g_clear_error (&problem);
    return surface_error (error, "has no line of numbers");
  }
  if (ok && heading.at)
    ok = read_headings (heading.at, heading.end, header, &problem);
  if (!ok)
    g_propagate_error (error, problem);
  return ok;
}

/* --- encodings ------------------------------------------------------------------- */

/* Name of the UTF-16 that a byte order mark announces. Returns: (nullable) */
static const gchar *
find_encoding (const guint8 *data, gsize size)
{
  if (size >= 2 && data[0] == 0xff && data[1] == 0xfe)
    return "UTF-16LE";
  return size >= 2 && data[0] == 0xfe && data[1] == 0xff ? "UTF-16BE" : NULL;
}

/* Converts UTF-16, up to the first fault. @fault: (out): its byte position; 0:
 * none. Returns: (nullable) (transfer full): %NULL if the text needs no
 * conversion */
static gchar *
decode_text (const guint8 *data, gsize size, gsize *n, gsize *fault)
{
  const gchar *encoding = find_encoding (data, size);
  gsize used = 0;
  gchar *text;

  *fault = 0;
  if (!encoding)
    return NULL;
  text = g_convert ((const gchar *) data + 2, (gssize) (size - 2) / 2 * 2,
      "UTF-8", encoding, &used, n, NULL);
  if (used < (size - 2) / 2 * 2 || size % 2)
    *fault = 2 + used;
  if (!text)
    text = g_convert ((const gchar *) data + 2, (gssize) used, "UTF-8",
        encoding, NULL, n, NULL);
  if (!text)
    *n = 0;
  return text ? text : g_strdup ("");
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

static gboolean
is_wyko (const guint8 *data, gsize size)
{
  return size >= strlen (WYKO) && !memcmp (data, WYKO, strlen (WYKO));
}

/* The first bytes as UTF-8 */
typedef struct {
  gchar *decoded; /* (nullable) */
  const guint8 *data;
  gsize size;
} Start;

/* Returns: whether they are text */
static gboolean
start_init (Start *start, const guint8 *data, gsize size)
{
  gsize fault; /* the end of the bytes may be one */

  *start = (Start){ .data = data, .size = MIN (size, SURFACE_FILE_START) };
  start->decoded = decode_text (data, start->size, &start->size, &fault);
  if (start->decoded)
    start->data = (const guint8 *) start->decoded;
  return is_text (start->data, start->size);
}

gboolean
surface_detect_text (const guint8 *data, gsize size)
{
  Header header = { 0 };
  Start start;
  gboolean is;

  is = start_init (&start, data, size);
  if (is && !is_wyko (start.data, start.size))
    read_text_header (start.data, start.size, &header, NULL);
  is = is && (header.columns > 1 || is_wyko (start.data, start.size));
  g_free (header.title);
  g_free (start.decoded);
  return is;
}

/* Explains the first line that is neither empty nor a comment. */
gchar *
surface_text_explain (const guint8 *data, gsize size)
{
  gchar *reason = NULL, *shown;
  const gchar *at, *end;
  Start start;

  if (!start_init (&start, data, size)) {
    g_free (start.decoded);
    return NULL;
  }
  at = (const gchar *) start.data;
  end = at + start.size;
  for (guint line = 1; !reason && at < end; line++) {
    const gchar *stop = find_line_end (at, end);
    Header header = { 0 };

    shown = surface_text ((const guint8 *) at, (gsize) (stop - at));
    if (shown && *shown != '#' && *shown != '%') {
      choose_separator (at, stop, &header);
      reason = g_strdup_printf (
          count_cells (at, stop, &header) == 1
              ? "line %u (\"%.40s\") is a single number; rows of a matrix, "
                "points x y z or profiles x z are read"
              : "line %u (\"%.40s\") and the lines after it are no rows of "
                "numbers",
          line, shown);
    }
    g_free (shown);
    at = stop + 1;
  }
  g_free (start.decoded);
  return reason;
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

/* Scales heights, whose unit is that of @column. */
static void
set_heights (const Header *header, guint column, SurfaceImage *image)
{
  const gdouble unit = header->units[column];
  const gsize n = (gsize) image->width * image->height;

  for (gsize i = 0; i < n && !isnan (header->missing); i++)
    if (image->z[i] == header->missing)
      image->z[i] = NAN;
  image->no_z_unit = unit == 0;
  surface_image_scale (image, unit ? unit : 1, 0);
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
  if (header->columns <= MAX_POINT && lines >= TALL * header->columns)
    surface_image_add_note (image,
        "its %" G_GUINT64_FORMAT " lines of %u columns, which are no points of "
        "a grid and no profile, are "
        "read as rows of heights",
        lines, header->columns);
  image->dx = header->size[0] ? header->size[0] / image->width : header->cell;
  image->dy = header->size[1] ? header->size[1] / image->height : header->cell;
  image->no_xy_unit = header->cell && !header->size[0] && !header->size[1];
  text_init (&text, header, source);
  for (guint y = 0; ok && y < image->height; y++)
    ok = read_line (&text, image->z + (gsize) y * image->width, error)
         == CELL_LINE_END;
  surface_words_clear (&text.words);
  if (ok) {
    set_heights (header, 2, image);
    return image;
  }
  surface_image_free (image);
  if (error && !*error)
    surface_error (error, "became shorter while it was read");
  return NULL;
}

/* --- points -------------------------------------------------------------------- */

/* Coordinate x or y of all points
 * @changes: neighbouring points differ in it */
typedef struct {
  gdouble low, high;
  gboolean changes;
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

static gboolean
refuse_position (const Text *text, GError **error)
{
  return surface_error (error,
      "has no x or y in line %" G_GUINT64_FORMAT
      " of numbers (up to byte %" G_GUINT64_FORMAT ")",
      text->line - 1, surface_words_tell (&text->words));
}

/* x, y and z of the next line; y is 0 in two columns. Returns: FALSE at the end,
 * and with @error */
static gboolean
read_text_point (Text *text, SurfacePoint *point, GError **error)
{
  gdouble values[MAX_POINT];

  if (read_line (text, values, error) != CELL_LINE_END)
    return FALSE;
  *point = text->header->columns == 2
               ? (SurfacePoint){ values[0], 0, values[1] }
               : (SurfacePoint){ values[0], values[1], values[2] };
  return (isfinite (point->x) && isfinite (point->y))
         || refuse_position (text, error);
}

static void
add_to_axis (Axis *axis, gdouble value, gdouble last, gboolean first)
{
  axis->low = first ? value : MIN (axis->low, value);
  axis->high = first ? value : MAX (axis->high, value);
  axis->changes |= !first && value != last;
}

static gboolean
measure_points (const Header *header, const SurfaceSource *source,
    Extent *extent, GError **error)
{
  SurfacePoint point, last = { 0 };
  GError *problem = NULL;
  Text text;

  *extent = (Extent){ .n = 0 };
  text_init (&text, header, source);
  while (read_text_point (&text, &point, &problem)) {
    add_to_axis (&extent->axes[0], point.x, last.x, extent->n == 0);
    add_to_axis (&extent->axes[1], point.y, last.y, extent->n == 0);
    extent->n++;
    if (!extent->run && extent->axes[0].changes && extent->axes[1].changes)
      extent->run = extent->n - 1;
    last = point;
  }
  surface_words_clear (&text.words);
  if (!extent->run)
    extent->run = extent->n;
  if (!problem)
    return TRUE;
  g_propagate_error (error, problem);
  return FALSE;
}

/* --- points in order -------------------------------------------------------------- */

/* Complete grid: rows or columns of the same length. Returns: %FALSE if
 * impossible */
static gboolean
find_complete_grid (const Extent *extent, gboolean columns, Grid *grid)
{
  grid->n[columns] = extent->run;
  grid->n[!columns] = extent->n / extent->run;
  return grid->n[0] * grid->n[1] == extent->n;
}

static gdouble
spacing_of (const Axis *axis, guint64 n)
{
  return n > 1 ? (axis->high - axis->low) / (gdouble) (n - 1) : 0;
}

/* The smallest coordinate is at the left or the top. @shift: (inout): the
 * largest one, of the spacing. Returns: FALSE if it is off its grid position */
static gboolean
find_place (
    const Axis *axis, guint64 n, gdouble value, guint64 *place, gdouble *shift)
{
  const gdouble spacing = spacing_of (axis, n);
  const gdouble at = spacing ? (value - axis->low) / spacing : 0;
  const gdouble from = fabs (at - rint (at));

  if (n == 1 ? axis->low != axis->high : spacing == 0)
    return FALSE;
  if (!(at > -0.5 && at < (gdouble) n && from <= TOLERANCE))
    return FALSE;
  *place = (guint64) rint (at);
  *shift = MAX (*shift, from);
  return TRUE;
}

/* Returns: FALSE if a point is off its grid position or two points share one,
 * and with @error */
static gboolean
place_points (const Header *header, const SurfaceSource *source,
    const Extent *extent, SurfaceImage *image, GError **error)
{
  gdouble shift = 0;
  gboolean ok = TRUE;
  SurfacePoint point;
  guint64 x, y;
  Text text;

  for (gsize i = 0; i < (gsize) image->width * image->height; i++)
    image->z[i] = NAN;
  text_init (&text, header, source);
  while (ok && read_text_point (&text, &point, error)) {
    ok = find_place (&extent->axes[0], image->width, point.x, &x, &shift)
         && find_place (&extent->axes[1], image->height, point.y, &y, &shift)
         && x < image->width && y < image->height
         && isnan (image->z[y * image->width + x]);
    if (ok)
      image->z[y * image->width + x] = point.z;
  }
  surface_words_clear (&text.words);
  if (ok)
    surface_grid_note_shift (image, shift);
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
  image->dx = spacing_of (&extent->axes[0], grid->n[0]);
  image->dy = spacing_of (&extent->axes[1], grid->n[1]);
  if (place_points (header, source, extent, image, &problem) && !problem)
    return image;
  if (problem)
    g_propagate_error (error, problem);
  surface_image_free (image);
  return NULL;
}

/* --- points in any order ------------------------------------------------------------ */

/* Returns: (transfer full): @n points; %NULL with @error */
static SurfacePoint *
load_points (
    const Header *header, const SurfaceSource *source, gsize n, GError **error)
{
  SurfacePoint *points = g_try_new (SurfacePoint, n);
  gsize there = 0;
  Text text;

  if (!points) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "Not enough memory for %" G_GSIZE_FORMAT " points", n);
    return NULL;
  }
  text_init (&text, header, source);
  while (there < n && read_text_point (&text, &points[there], error))
    there++;
  surface_words_clear (&text.words);
  if (there == n)
    return points;
  g_free (points);
  if (error && !*error)
    surface_error (error, "became shorter while it was read");
  return NULL;
}

/* Sets spacing and heights in metres. @column: of the heights. Returns: FALSE if
 * a spacing is not finite */
static gboolean
set_units (const Header *header, guint column, SurfaceImage *image)
{
  const gdouble x = header->units[0];
  const gdouble y = column == 2 ? header->units[1] : x;

  image->dx *= x ? x : 1;
  image->dy *= y ? y : 1;
  image->no_xy_unit = x == 0 && y == 0;
  set_heights (header, column, image);
  return isfinite (image->dx) && isfinite (image->dy);
}

/* Points in the order of a complete grid need no memory. */
static SurfaceImage *
read_text_points (
    const Header *header, const SurfaceSource *source, GError **error)
{
  SurfaceImage *image = NULL;
  GError *problem = NULL;
  SurfacePoint *points;
  Extent extent;
  Grid grid;

  if (!measure_points (header, source, &extent, error))
    return NULL;
  for (guint columns = 0; columns < 2 && !image && !problem; columns++)
    if (find_complete_grid (&extent, columns, &grid))
      image = read_grid (header, source, &extent, &grid, &problem);
  if (!image && !problem && header->columns == 3 && extent.n <= FEW_LINES)
    return read_matrix (header, source, error);
  if (!image && !problem) {
    points = load_points (header, source, (gsize) extent.n, &problem);
    if (points)
      image = surface_grid_new (points, (gsize) extent.n, &problem);
    g_free (points);
  }
  if (image && !set_units (header, 2, image)) {
    g_clear_pointer (&image, surface_image_free);
    surface_error (&problem, "has points whose spacing is not finite");
  }
  if (problem)
    g_propagate_error (error, problem);
  return image;
}

/* Columns x, y, z and others, such as colours, if the points fill a grid;
 * otherwise a matrix */
static SurfaceImage *
read_wide_points (
    const Header *header, const SurfaceSource *source, GError **error)
{
  SurfaceImage *image = read_text_points (header, source, NULL);
  guint64 lines;

  if (image && count_lines (header, source, &lines, NULL) && lines > FEW_LINES
      && image->width > 1 && image->height > 1
      && (guint64) image->width * image->height == lines) {
    surface_image_add_note (image,
        "its lines of %u columns are read as points x, y, z; the last %u "
        "columns are not read",
        header->columns, header->columns - 3);
    return image;
  }
  g_clear_pointer (&image, surface_image_free);
  return read_matrix (header, source, error);
}

/* --- profiles ------------------------------------------------------------------------ */

/* Index of the first point whose x is not beyond the one before it; @n: none */
static gsize
find_turn (const SurfacePoint *points, gsize n)
{
  const gboolean up = n > 1 && points[1].x > points[0].x;

  for (gsize i = 1; i < n; i++)
    if (up ? points[i].x <= points[i - 1].x : points[i].x >= points[i - 1].x)
      return i;
  return n;
}

/* Two columns x and z with even spacing; otherwise, if x goes back and forth,
 * rows of two heights */
static SurfaceImage *
read_profile (const Header *header, const SurfaceSource *source, GError **error)
{
  SurfaceImage *image = NULL;
  GError *problem = NULL;
  SurfacePoint *points;
  guint64 lines;
  gsize n;

  if (!count_lines (header, source, &lines, error))
    return NULL;
  points = lines > FEW_LINES ? load_points (header, source, (gsize) lines, NULL)
                             : NULL;
  if (!points)
    return read_matrix (header, source, error);
  n = (gsize) lines;
  image = surface_grid_new (points, n, &problem);
  if (image && image->width < n && find_turn (points, n) < n)
    g_clear_pointer (&image, surface_image_free);
  if (!image && find_turn (points, n) == n) {
    surface_error (error,
        "has two columns whose first, which rises or falls throughout, is no "
        "even spacing of a profile x, z: it goes from %g to %g in "
        "%" G_GSIZE_FORMAT
        " lines of numbers, the first step is %g and the last %g",
        points[0].x, points[n - 1].x, n, points[1].x - points[0].x,
        points[n - 1].x - points[n - 2].x);
  } else if (!image) {
    image = read_matrix (header, source, error);
  } else if (set_units (header, 1, image)) {
    surface_image_add_note (image,
        "its %" G_GSIZE_FORMAT
        " lines of two columns are read as the positions and heights of a "
        "profile",
        n);
  } else {
    g_clear_pointer (&image, surface_image_free);
    surface_error (error, "has points whose spacing is not finite");
  }
  g_clear_error (&problem);
  g_free (points);
  return image;
}

/* --- Wyko ------------------------------------------------------------------------------ */

/* Header and heights of a Wyko text. @start: byte position of the heights
 * @real: heights are nanometres, otherwise wavelengths / Mult */
typedef struct {
  gboolean real;
  guint width, height;
  gdouble pixel, aspect, wavelength, mult;
  guint64 start;
  gchar *title;
} Wyko;

static gboolean
is_wyko_heights (const gchar *name)
{
  static const gchar *const names[] = { "RAW_DATA", "RAW DATA", "OPD",
    "SAMPLE_DATA" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (!strcmp (name, names[i]))
      return TRUE;
  return FALSE;
}

/* A line "name, type, length, value" with tabs between them */
static void
read_wyko_block (gchar **cells, Wyko *wyko)
{
  const guint n = g_strv_length (cells);
  const struct {
    const gchar *name;
    gdouble *value;
  } numbers[] = { { "Pixel_size", &wyko->pixel }, { "Aspect", &wyko->aspect },
    { "Wavelength", &wyko->wavelength }, { "Mult", &wyko->mult } };

  if (n >= 2 && !strcmp (cells[0], "X Size"))
    wyko->width = (guint) MIN (
        g_ascii_strtoull (cells[1], NULL, 10), SURFACE_MAX_SAMPLES);
  if (n >= 2 && !strcmp (cells[0], "Y Size"))
    wyko->height = (guint) MIN (
        g_ascii_strtoull (cells[1], NULL, 10), SURFACE_MAX_SAMPLES);
  if (n < 4)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (!strcmp (cells[0], numbers[i].name))
      surface_number (cells[3], numbers[i].value);
  if (!strcmp (cells[0], "Title") && !wyko->title)
    wyko->title = surface_text ((guint8 *) cells[3], strlen (cells[3]));
}

/* Parses up to the line that begins a block of heights */
static gboolean
read_wyko_header (const gchar *text, gsize size, Wyko *wyko, GError **error)
{
  const gchar *end = text + size, *at = text;
  guint version, real = 0;
  gboolean found = FALSE;

  *wyko = (Wyko){ .pixel = NAN, .aspect = 1, .wavelength = NAN, .mult = 1 };
  while (!found && at < end) {
    const gchar *stop = find_line_end (at, end);
    /* lines of other blocks may be long */
    gchar *line = g_strndup (at, (gsize) MIN (stop - at, 1024)), **cells;

    g_strchomp (line);
    if (at == text)
      sscanf (line, WYKO " %u %u", &version, &real);
    cells = g_strsplit (line, "\t", 5);
    found = cells[0] && cells[1] && cells[2] && is_wyko_heights (cells[0]);
    if (!found)
      read_wyko_block (cells, wyko);
    g_strfreev (cells);
    g_free (line);
    at = MIN (stop + 1, end);
  }
  wyko->start = (guint64) (at - text);
  wyko->real = real != 0;
  if (!found)
    return surface_error (
        error, "has no block of heights: RAW_DATA, OPD or SAMPLE_DATA");
  return surface_check_size (wyko->width, wyko->height, error)
         && surface_check_spacing ("Pixel_size", wyko->pixel, error)
         && surface_check_spacing ("Aspect", wyko->aspect, error)
         && surface_check_factor ("Mult", wyko->mult, error)
         && (wyko->real
             || surface_check_factor ("Wavelength", wyko->wavelength, error));
}

/* Lines are columns from the left, each from bottom to top. */
static gboolean
read_wyko_heights (
    Text *text, const Wyko *wyko, SurfaceImage *image, GError **error)
{
  gdouble *column = g_new (gdouble, wyko->height);
  gboolean ok = TRUE;

  for (guint x = 0; ok && x < wyko->width; x++) {
    ok = read_line (text, column, error) == CELL_LINE_END;
    for (guint y = 0; ok && y < wyko->height; y++)
      image->z[(gsize) (wyko->height - 1 - y) * wyko->width + x] = column[y];
  }
  g_free (column);
  if (!ok && error && !*error)
    surface_error (error, "ends after %" G_GUINT64_FORMAT " of %u columns",
        text->line - 1, wyko->width);
  return ok;
}

static SurfaceImage *
read_wyko (const SurfaceSource *source, GError **error)
{
  SurfaceImage *image = NULL;
  Header header = { .separator = '\t', .missing = NAN };
  Wyko wyko;
  Text text;

  /* a height and its separator are two bytes at least */
  if (read_wyko_header (
          (const gchar *) source->data, (gsize) source->size, &wyko, error)
      && surface_check_bytes (source->size, wyko.start,
          2 * (guint64) wyko.width * wyko.height - 1, error))
    image = surface_image_new (wyko.width, wyko.height, error);
  header.start = wyko.start;
  header.columns = wyko.height;
  text_init (&text, &header, source);
  if (image && !read_wyko_heights (&text, &wyko, image, error))
    g_clear_pointer (&image, surface_image_free);
  if (image) {
    const guint64 rest = source->size - surface_words_tell (&text.words);

    image->dx = wyko.pixel * 1e-3;
    image->dy = image->dx * wyko.aspect;
    image->title = g_steal_pointer (&wyko.title);
    surface_image_scale (
        image, wyko.real ? 1e-9 : wyko.wavelength * 1e-9 / wyko.mult, 0);
    if (rest > 0)
      surface_image_add_note (image,
          "the last %" G_GUINT64_FORMAT
          " bytes of the file, blocks after its heights, are not read",
          rest);
  }
  surface_words_clear (&text.words);
  g_free (wyko.title);
  return image;
}

/* --- files ------------------------------------------------------------------------------ */

static SurfaceImage *
read_numbers (const SurfaceSource *source, const guint8 *head, gsize n_head,
    GError **error)
{
  SurfaceImage *image = NULL;
  Header header = { 0 };

  if (read_text_header (head, n_head, &header, error)
      && count_columns (&header, source, error))
    image = header.columns == 2   ? read_profile (&header, source, error)
            : header.columns == 3 ? read_text_points (&header, source, error)
            : header.columns <= MAX_POINT
                ? read_wide_points (&header, source, error)
                : read_matrix (&header, source, error);
  if (image)
    image->title = g_steal_pointer (&header.title);
  g_free (header.title);
  return image;
}

/* A text that has to be in memory as a whole: UTF-16, or Wyko's */
static SurfaceImage *
read_whole (const SurfaceSource *source, GError **error)
{
  guint8 *own = source->data ? NULL : g_try_malloc (source->size);
  const guint8 *data = own ? own : source->data;
  SurfaceSource text = { .data = data, .size = source->size };
  SurfaceImage *image = NULL;
  gchar *decoded = NULL;
  gsize n, fault = 0;

  if (!data)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "Not enough memory for %" G_GUINT64_FORMAT " bytes of text",
        source->size);
  if (data
      && (!own || surface_source_read (source, 0, source->size, own, error))) {
    decoded = decode_text (data, (gsize) source->size, &n, &fault);
    if (decoded)
      text = (SurfaceSource){ .data = (guint8 *) decoded, .size = n };
    if (fault > 0)
      surface_error (error,
          "is UTF-16 with an invalid or incomplete character at byte "
          "%" G_GSIZE_FORMAT,
          fault);
    else
      image = is_wyko (text.data, (gsize) text.size)
                  ? read_wyko (&text, error)
                  : read_numbers (&text, text.data,
                      (gsize) MIN (text.size, MAX_HEADER), error);
  }
  g_free (decoded);
  g_free (own);
  return image;
}

SurfaceImage *
surface_read_text (const SurfaceSource *source, GError **error)
{
  const gsize n = (gsize) MIN (source->size, MAX_HEADER);
  guint8 *head = g_malloc (n);
  SurfaceImage *image = NULL;

  if (surface_source_read (source, 0, n, head, error))
    image = find_encoding (head, n) || is_wyko (head, n)
                ? read_whole (source, error)
                : read_numbers (source, head, n, error);
  g_free (head);
  return image;
}
