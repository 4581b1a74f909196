#include <stdlib.h>

#include "base/text.h"

#include "config/config.h"

static void dump_options(FILE *stream, const char *prefix, const FovOption *options,
                         const void *values) {
  for (; options && options->name; options++) {
    fprintf(stream, "%s%s%s = ", prefix, *prefix ? "." : "", options->name);
    fov_value_print(stream, options, values);
    fputc('\n', stream);
  }
}

/** Writes full keys instead of sections, so that each line can be copied to a command line. */
static void dump(FILE *stream, const FovConfig *config) {
  for (size_t i = 0; i < config->group_count; i++) {
    const FovGroup *group = &config->groups[i];
    if (i > 0) fputc('\n', stream);
    dump_options(stream, group->prefix, group->options, group->values);
  }
  for (size_t i = 0; i < config->slot_count; i++) {
    const FovSlot *slot = &config->slots[i];
    if (i > 0 || config->group_count > 0) fputc('\n', stream);
    fprintf(stream, "%s = %s\n", slot->key, slot->plugin->name);
    dump_options(stream, slot->key, slot->plugin->options, slot->values);
  }
}

FovStatus fov_config_dump(char **text, const FovConfig *config) {
  *text = NULL;
  size_t size;
  FILE *stream = open_memstream(text, &size);
  if (stream) dump(stream, config);
  if (fov_text_close(text, stream)) return FOV_OK;
  return fov_fail(FOV_ERR_MEMORY, "no memory to write the configuration");
}
