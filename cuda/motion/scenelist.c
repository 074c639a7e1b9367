/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Lists of scenes as text. Called by motionvectorenc. */
#include "scenelist.h"

#include "cuda/motion/transition.h"

typedef struct {
  guint64 frame, pts;
} Scene;

struct _MotionSceneList {
  GArray *scenes;      /* of Scene */
  GArray *transitions; /* of MotionTransition */
  MotionTransitionDetector *detector;
  guint64 frames;   /* number of the last frame + 1 */
  guint64 end_time; /* of the last frame, ns; G_MAXUINT64: unknown */
};

MotionSceneList *
motion_scene_list_new (void)
{
  MotionSceneList *list = g_new0 (MotionSceneList, 1);

  list->scenes = g_array_new (FALSE, FALSE, sizeof (Scene));
  list->transitions = g_array_new (FALSE, FALSE, sizeof (MotionTransition));
  list->detector = motion_transition_detector_new ();
  list->end_time = G_MAXUINT64;
  return list;
}

void
motion_scene_list_free (MotionSceneList *list)
{
  if (list == NULL)
    return;
  g_array_unref (list->scenes);
  g_array_unref (list->transitions);
  motion_transition_detector_free (list->detector);
  g_free (list);
}

/* Whether a scene begins with the fade-in: one was faded out before, and no cut was found
 * since. */
static gboolean
fades_to_scene (const MotionSceneList *list, const MotionTransition *in)
{
  const guint n = list->transitions->len, last = list->scenes->len - 1;

  return n > 0
         && g_array_index (list->transitions, MotionTransition, n - 1).kind
                == MOTION_FADE_OUT
         && g_array_index (list->scenes, Scene, last).frame < in->start;
}

static void
add_transition (MotionSceneList *list, const MotionTransition *transition)
{
  const Scene dissolved = { transition->end, transition->end_pts };
  const Scene faded = { transition->start, transition->start_pts };

  if (transition->kind == MOTION_DISSOLVE)
    g_array_append_val (list->scenes, dissolved);
  else if (transition->kind == MOTION_FADE_IN
           && fades_to_scene (list, transition))
    g_array_append_val (list->scenes, faded);
  g_array_append_val (list->transitions, *transition);
}

void
motion_scene_list_add (MotionSceneList *list, const CvisMotionPacket *packet,
    const CvisMotionBlock *blocks, guint64 pts, guint64 duration)
{
  MotionTransition transition;

  if (motion_transition_detector_add (
          list->detector, packet, blocks, pts, &transition))
    add_transition (list, &transition);
  if (list->scenes->len == 0 || (packet->flags & CVIS_MOTION_FRAME_SCENE_CUT)) {
    const Scene scene = { packet->frame, pts };

    g_array_append_val (list->scenes, scene);
  }
  list->frames = packet->frame + 1;
  list->end_time = pts;
  if (pts != G_MAXUINT64 && duration != G_MAXUINT64)
    list->end_time += duration;
}

void
motion_scene_list_end (MotionSceneList *list)
{
  MotionTransition transition;

  if (motion_transition_detector_end (list->detector, &transition))
    add_transition (list, &transition);
}

guint
motion_scene_list_get_size (const MotionSceneList *list)
{
  return list->scenes->len;
}

static const Scene *
get_scene (const MotionSceneList *list, guint i)
{
  return &g_array_index (list->scenes, Scene, i);
}

/* The end of scene @i, exclusive: the beginning of the next one */
static Scene
get_scene_end (const MotionSceneList *list, guint i)
{
  if (i + 1 < list->scenes->len)
    return *get_scene (list, i + 1);
  return (Scene){ list->frames, list->end_time };
}

static void
append_seconds (GString *text, guint64 ns)
{
  if (ns != G_MAXUINT64)
    g_string_append_printf (text, "%" G_GUINT64_FORMAT ".%09" G_GUINT64_FORMAT,
        ns / 1000000000, ns % 1000000000);
}

static void
format_csv (const MotionSceneList *list, GString *text)
{
  g_string_append (text, "scene,start_frame,end_frame,start_s,end_s\n");
  for (guint i = 0; i < list->scenes->len; i++) {
    const Scene *scene = get_scene (list, i), end = get_scene_end (list, i);

    g_string_append_printf (text,
        "%u,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",", i + 1, scene->frame,
        end.frame);
    append_seconds (text, scene->pts);
    g_string_append_c (text, ',');
    append_seconds (text, end.pts);
    g_string_append_c (text, '\n');
  }
}

static void
append_json_scenes (
    const MotionSceneList *list, GString *text, const gchar *name)
{
  g_string_append_printf (text, "  \"%s\": [", name);
  for (guint i = 0; i < list->scenes->len; i++)
    g_string_append_printf (text,
        "%s\n    {\"start_frame\": %" G_GUINT64_FORMAT
        ", \"end_frame\": %" G_GUINT64_FORMAT ", \"zone_overrides\": null}",
        i > 0 ? "," : "", get_scene (list, i)->frame,
        get_scene_end (list, i).frame);
  g_string_append (text, "\n  ]");
}

static void
format_json (const MotionSceneList *list, GString *text)
{
  g_string_append_printf (
      text, "{\n  \"frames\": %" G_GUINT64_FORMAT ",\n", list->frames);
  append_json_scenes (list, text, "scenes");
  g_string_append (text, ",\n");
  append_json_scenes (list, text, "split_scenes");
  g_string_append (text, "\n}\n");
}

static void
format_qpfile (const MotionSceneList *list, GString *text)
{
  for (guint i = 0; i < list->scenes->len; i++)
    g_string_append_printf (
        text, "%" G_GUINT64_FORMAT " I -1\n", get_scene (list, i)->frame);
}

static void
format_svt_key_frames (const MotionSceneList *list, GString *text)
{
  for (guint i = 0; i < list->scenes->len; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT "f", i > 0 ? "," : "",
        get_scene (list, i)->frame);
  g_string_append_c (text, '\n');
}

static void
format_zones (const MotionSceneList *list, GString *text)
{
  for (guint i = 0; i < list->scenes->len; i++)
    g_string_append_printf (text,
        "%s%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",b=1.00",
        i > 0 ? "/" : "", get_scene (list, i)->frame,
        get_scene_end (list, i).frame - 1);
  g_string_append_c (text, '\n');
}

static void
format_transitions (const MotionSceneList *list, GString *text)
{
  g_string_append (text, "kind,start_frame,end_frame,start_s,end_s\n");
  for (guint i = 0; i < list->transitions->len; i++) {
    const MotionTransition *t =
        &g_array_index (list->transitions, MotionTransition, i);

    g_string_append_printf (text,
        "%s,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",",
        motion_transition_kind_get_name (t->kind), t->start, t->end);
    append_seconds (text, t->start_pts);
    g_string_append_c (text, ',');
    append_seconds (text, t->end_pts);
    g_string_append_c (text, '\n');
  }
}

static void
format_chapters (const MotionSceneList *list, GString *text)
{
  g_string_append (text, ";FFMETADATA1\n");
  for (guint i = 0; i < list->scenes->len; i++) {
    const Scene *scene = get_scene (list, i), end = get_scene_end (list, i);

    if (scene->pts == G_MAXUINT64 || end.pts == G_MAXUINT64)
      continue;
    g_string_append_printf (text,
        "[CHAPTER]\nTIMEBASE=1/1000000000\nSTART=%" G_GUINT64_FORMAT
        "\nEND=%" G_GUINT64_FORMAT "\ntitle=Scene %u\n",
        scene->pts, end.pts, i + 1);
  }
}

gchar *
motion_scene_list_format (
    const MotionSceneList *list, MotionScenesFormat format)
{
  GString *text = g_string_new (NULL);

  switch (format) {
    case MOTION_SCENES_CSV:
      format_csv (list, text);
      break;
    case MOTION_SCENES_JSON:
      format_json (list, text);
      break;
    case MOTION_SCENES_QPFILE:
      format_qpfile (list, text);
      break;
    case MOTION_SCENES_SVT_KEY_FRAMES:
      format_svt_key_frames (list, text);
      break;
    case MOTION_SCENES_ZONES:
      format_zones (list, text);
      break;
    case MOTION_SCENES_TRANSITIONS:
      format_transitions (list, text);
      break;
    case MOTION_SCENES_CHAPTERS:
      format_chapters (list, text);
      break;
  }
  return g_string_free (text, FALSE);
}
