#include <string.h>

#include "config/names.h"

enum { MOST_SHARED = 64 };

/** Prints the words of `text`, in lines from the layout's column to its width, and ends the last
 * line. */
static void print_wrapped(FILE *stream, const FovHelpLayout *layout, const char *text) {
  int column = layout->column;
  for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
    int length = (int)strcspn(text, " ");
    if (column == layout->column || column + 1 + length <= layout->width) {
      column += fprintf(stream, "%s%.*s", column > layout->column ? " " : "", length, text);
    } else {
      fprintf(stream, "\n%*s%.*s", layout->column, "", length, text);
      column = layout->column + length;
    }
    text += length;
  }
  fputc('\n', stream);
}

void fov_help_entry(FILE *stream, const FovHelpLayout *layout, const char *label,
                    const char *help) {
  int width = layout->column - layout->indent;
  if ((int)strlen(label) < width)
    fprintf(stream, "%*s%-*s", layout->indent, "", width, label);
  else
    fprintf(stream, "%*s%s\n%*s", layout->indent, "", label, layout->column, "");
  print_wrapped(stream, layout, help);
}

static void print_entry(FILE *stream, int indent, const char *label, const char *help) {
  fov_help_entry(stream, &(FovHelpLayout){.indent = indent, .column = 34, .width = 100}, label,
                 help);
}

/** Prints `prefix.name = default`, as in an experiment file, and what the option accepts. */
static void print_option(FILE *stream, int indent, const char *prefix, const FovOption *option) {
  char label[FOV_PHRASE_SIZE], accepts[FOV_PHRASE_SIZE], help[2 * FOV_PHRASE_SIZE];
  snprintf(label, sizeof label, "%s%s%s = %s", prefix, *prefix ? "." : "", option->name,
           option->fallback);
  fov_value_describe(accepts, option);
  if (option->type == FOV_OPTION_STRING)
    snprintf(help, sizeof help, "%s", option->help);
  else
    snprintf(help, sizeof help, "%s (%s)", option->help, accepts);
  print_entry(stream, indent, label, help);
}

static void print_options(FILE *stream, int indent, const char *prefix, const FovOption *options) {
  for (; options && options->name; options++) print_option(stream, indent, prefix, options);
}

static bool are_alike(const FovOption *a, const FovOption *b) {
  char accepted_by_a[FOV_PHRASE_SIZE], accepted_by_b[FOV_PHRASE_SIZE];
  fov_value_describe(accepted_by_a, a);
  fov_value_describe(accepted_by_b, b);
  return !strcmp(a->name, b->name) && !strcmp(a->fallback, b->fallback) &&
         !strcmp(a->help, b->help) && !strcmp(accepted_by_a, accepted_by_b);
}

/** The first plug-in of the table that has such an option, which one of them has. */
static const FovPlugin *owner(const FovPlugin *const *table, const FovOption *option) {
  for (;; table++)
    for (const FovOption *o = (*table)->options; o && o->name; o++)
      if (are_alike(o, option)) return *table;
}

/** Names of the options that plug-in has from the other. Returns their number, or 0 if a reference
 * to the other is not worth it: for one alone, or from the plug-in to itself. */
static size_t list_shared(const char *names[MOST_SHARED], const FovPlugin *const *table,
                          const FovPlugin *plugin, const FovPlugin *other) {
  size_t count = 0;
  for (const FovOption *o = plugin->options; o && o->name && count < MOST_SHARED; o++)
    if (owner(table, o) == other) names[count++] = o->name;
  return other == plugin || count == 1 ? 0 : count;
}

/** Prints the options shared with an earlier plug-in in one line, the others in full. */
static void print_plugin_options(FILE *stream, int indent, const char *prefix,
                                 const FovPlugin *const *table, const FovPlugin *plugin) {
  const char *names[MOST_SHARED];
  for (const FovPlugin *const *other = table; *other != plugin; other++) {
    size_t count = list_shared(names, table, plugin, *other);
    if (count == 0) continue;
    char lead[FOV_PHRASE_SIZE], label[FOV_PHRASE_SIZE], help[FOV_PHRASE_SIZE];
    snprintf(lead, sizeof lead, "%s%s", prefix, *prefix ? "." : "");
    fov_name_list(label, lead, names, count);
    snprintf(help, sizeof help, "the same as for %s", (*other)->name);
    print_entry(stream, indent, label, help);
  }
  for (const FovOption *o = plugin->options; o && o->name; o++)
    if (list_shared(names, table, plugin, owner(table, o)) == 0)
      print_option(stream, indent, prefix, o);
}

static void print_plugins(FILE *stream, int indent, const char *prefix,
                          const FovPlugin *const *table) {
  for (const FovPlugin *const *plugin = table; *plugin; plugin++) {
    print_entry(stream, indent, (*plugin)->name, (*plugin)->help);
    print_plugin_options(stream, indent + 2, prefix, table, *plugin);
  }
}

void fov_config_help(const FovConfig *config, FILE *stream) {
  for (size_t i = 0; i < config->group_count; i++) {
    if (i > 0) fputc('\n', stream);
    print_options(stream, 0, config->groups[i].prefix, config->groups[i].options);
  }
  for (size_t i = 0; i < config->slot_count; i++) {
    const FovSlot *slot = &config->slots[i];
    char label[FOV_PHRASE_SIZE];
    snprintf(label, sizeof label, "%s = %s", slot->key, slot->fallback);
    if (i > 0 || config->group_count > 0) fputc('\n', stream);
    print_entry(stream, 0, label, slot->help);
    print_plugins(stream, 2, slot->key, slot->table);
  }
}

void fov_plugin_help(const FovPlugin *const *table, FILE *stream) {
  print_plugins(stream, 0, "", table);
}
