#include "envs/datasets/png.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum {
  MAX_CHUNK = 8 << 20, // bytes, of a skipped chunk, too
  MAX_KEPT_CHUNKS = 16
};

typedef struct Reader {
  const char *path;
  FILE *file;
  png_structp png;
  png_infop info;
  FovPngHeader header;
  uint8_t *rgba;     // [H, W, 4]
  char warning[128]; // what libpng noticed before it gave up
} Reader;

/** For a wrong header libpng gives the reason in a warning; its error only states that it is wrong.
 */
static void on_warning(png_structp png, png_const_charp message) {
  Reader *reader = png_get_error_ptr(png);
  snprintf(reader->warning, sizeof reader->warning, "%s: ", message);
}

_Noreturn static void on_error(png_structp png, png_const_charp message) {
  const Reader *reader = png_get_error_ptr(png);
  fov_fail(FOV_ERR_FORMAT, "%s: expected a valid PNG of at most %d x %d pixels: %s%s", reader->path,
           FOV_PNG_MAX_SIDE, FOV_PNG_MAX_SIDE, reader->warning, message);
  png_longjmp(png, 1);
}

static void read_bytes(png_structp png, png_bytep out, size_t size) {
  FILE *file = ((const Reader *)png_get_io_ptr(png))->file;
  if (fread(out, 1, size, file) != size)
    png_error(png, ferror(file) ? strerror(errno) : "the file is cut short");
}

/** All damage is an error, and no chunk can ask for more memory than a limit. */
static void set_limits(png_structp png) {
  png_set_user_limits(png, FOV_PNG_MAX_SIDE, FOV_PNG_MAX_SIDE);
  png_set_chunk_malloc_max(png, MAX_CHUNK);
  png_set_chunk_cache_max(png, MAX_KEPT_CHUNKS);
  png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_set_benign_errors(png, 0);
  // Skip all chunks except palette, transparency and pixels: text and profiles are not unpacked.
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
}

static void read_header(Reader *reader) {
  png_read_info(reader->png, reader->info);
  reader->header = (FovPngHeader){.height = (int)png_get_image_height(reader->png, reader->info),
                                  .width = (int)png_get_image_width(reader->png, reader->info),
                                  .colour = png_get_color_type(reader->png, reader->info) &
                                            PNG_COLOR_MASK_COLOR};
}

static void read_rgba(Reader *reader) {
  png_structp png = reader->png;
  png_set_expand(png);
  png_set_scale_16(png);
  png_set_gray_to_rgb(png);
  png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
  int passes = png_set_interlace_handling(png);
  png_read_update_info(png, reader->info);
  size_t stride = 4 * (size_t)reader->header.width;
  if (png_get_rowbytes(png, reader->info) != stride) png_error(png, "not four bytes a pixel");
  for (int pass = 0; pass < passes; pass++)
    for (int y = 0; y < reader->header.height; y++)
      png_read_row(png, reader->rgba + (size_t)y * stride, NULL);
  png_read_end(png, NULL);
}

/** Calls a function that may end in on_error. */
static FovStatus attempt(void (*work)(Reader *), Reader *reader) {
  if (setjmp(png_jmpbuf(reader->png))) return FOV_ERR_FORMAT;
  work(reader);
  return FOV_OK;
}

static FovStatus open_file(FILE **file, const char *path) {
  int fd;
  FOV_TRY(fov_file_open(&fd, path));
  *file = fdopen(fd, "rb");
  if (*file) return FOV_OK;
  close(fd);
  return fov_fail(FOV_ERR_MEMORY, "%s: no memory to read it", path);
}

static FovStatus begin(Reader *reader, const char *path) {
  *reader = (Reader){.path = path};
  FOV_TRY(open_file(&reader->file, path));
  reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, on_error, on_warning);
  if (reader->png) reader->info = png_create_info_struct(reader->png);
  if (!reader->info) return fov_fail(FOV_ERR_MEMORY, "%s: no memory to read it", path);
  png_set_read_fn(reader->png, reader, read_bytes);
  set_limits(reader->png);
  return attempt(read_header, reader);
}

static void finish(Reader *reader) {
  png_destroy_read_struct(&reader->png, &reader->info, NULL);
  if (reader->file) fclose(reader->file);
  free(reader->rgba);
}

FovStatus fov_png_header(FovPngHeader *header, const char *path) {
  Reader reader;
  FovStatus status = begin(&reader, path);
  *header = reader.header;
  finish(&reader);
  return status;
}

/* ---- pixels ---- */

static FovStatus decode(Reader *reader, const FovPngHeader *expected) {
  const FovPngHeader *found = &reader->header;
  if (found->height != expected->height || found->width != expected->width)
    return fov_fail(FOV_ERR_IO, "%s: expected %d x %d pixels, found %d x %d: it has just changed",
                    reader->path, expected->width, expected->height, found->width, found->height);
  reader->rgba = malloc(4 * (size_t)found->height * (size_t)found->width);
  if (!reader->rgba) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for its pixels", reader->path);
  return attempt(read_rgba, reader);
}

/** Composes a pixel with black, as grey or RGB. */
static void flatten(uint8_t *out, int channels, const uint8_t rgba[4]) {
  unsigned over[3];
  for (int c = 0; c < 3; c++) over[c] = (rgba[c] * rgba[3] + 127u) / 255;
  if (channels == 1)
    out[0] = (uint8_t)((299 * over[0] + 587 * over[1] + 114 * over[2] + 500) / 1000);
  else
    for (int c = 0; c < 3; c++) out[c] = (uint8_t)over[c];
}

FovStatus fov_png_read(uint8_t *pixels, const FovPngHeader *header, int channels,
                       const char *path) {
  FOV_CHECK(channels == 1 || channels == 3, "%d channels", channels);
  Reader reader;
  FovStatus status = begin(&reader, path);
  if (status == FOV_OK) status = decode(&reader, header);
  size_t count = (size_t)header->height * (size_t)header->width;
  for (size_t i = 0; i < count && status == FOV_OK; i++)
    flatten(pixels + i * (size_t)channels, channels, reader.rgba + 4 * i);
  finish(&reader);
  return status;
}
