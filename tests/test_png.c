/** The reader of PNG files: exact pixels of every kind of PNG, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "envs/datasets/png.h"
#include "tests/folder.h"

enum { H = 11, W = 13, LIMIT = 1 << 16, IHDR = 8 };

/** A kind of PNG; transparent means a tRNS chunk. */
typedef struct Kind {
  int type, depth;
  bool transparent, interlaced;
} Kind;

static const struct {
  int type, depths[6];
  bool may_be_transparent;
} types[] = {
    {PNG_COLOR_TYPE_GRAY, {1, 2, 4, 8, 16}, true}, {PNG_COLOR_TYPE_RGB, {8, 16}, true},
    {PNG_COLOR_TYPE_PALETTE, {1, 2, 4, 8}, true},  {PNG_COLOR_TYPE_GRAY_ALPHA, {8, 16}, false},
    {PNG_COLOR_TYPE_RGB_ALPHA, {8, 16}, false},
};

/* ---- writing them, and the expected pixels ---- */

static int samples_of(int type) {
  static const int samples[] = {[PNG_COLOR_TYPE_GRAY] = 1,
                                [PNG_COLOR_TYPE_RGB] = 3,
                                [PNG_COLOR_TYPE_PALETTE] = 1,
                                [PNG_COLOR_TYPE_GRAY_ALPHA] = 2,
                                [PNG_COLOR_TYPE_RGB_ALPHA] = 4};
  return samples[type];
}

static unsigned sample(Kind kind, int x, int y, int c) {
  uint32_t mixed = (uint32_t)(1 + x + 31 * y + 997 * c) * 2654435761u;
  return (mixed >> 11) & ((1u << kind.depth) - 1);
}

static png_color palette_entry(unsigned i) {
  return (png_color){(uint8_t)(255 - i), (uint8_t)(i * 7), (uint8_t)(i * 29 + 3)};
}

static uint8_t palette_alpha(unsigned i) {
  return (uint8_t)(i * 51 + 40);
}

static void write_row(uint8_t *row, Kind kind, int y) {
  int samples = samples_of(kind.type);
  memset(row, 0, W * 8);
  for (int i = 0; i < W * samples; i++) {
    unsigned value = sample(kind, i / samples, y, i % samples);
    if (kind.depth == 16)
      row[2 * i] = (uint8_t)(value >> 8), row[2 * i + 1] = (uint8_t)value;
    else
      row[i * kind.depth / 8] |= (uint8_t)(value << (8 - kind.depth - i * kind.depth % 8));
  }
}

/** Sets what is transparent: the grey or colour of pixel (2, 3), or the first palette entries. */
static void set_transparency(png_structp png, png_infop info, Kind kind) {
  uint8_t alphas[2] = {palette_alpha(0), palette_alpha(1)};
  png_color_16 colour = {.gray = (uint16_t)sample(kind, 2, 3, 0),
                         .red = (uint16_t)sample(kind, 2, 3, 0),
                         .green = (uint16_t)sample(kind, 2, 3, 1),
                         .blue = (uint16_t)sample(kind, 2, 3, 2)};
  bool palette = kind.type == PNG_COLOR_TYPE_PALETTE;
  png_set_tRNS(png, info, palette ? alphas : NULL, palette ? 2 : 1, palette ? NULL : &colour);
}

static void write_png(Kind kind) {
  FILE *file = fopen(path, "wb");
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(png);
  assert_non_null(file);
  png_init_io(png, file);
  png_set_IHDR(png, info, W, H, kind.depth, kind.type,
               kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
  png_color palette[256];
  for (unsigned i = 0; i < 256; i++) palette[i] = palette_entry(i);
  if (kind.type == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 1 << kind.depth);
  if (kind.transparent) set_transparency(png, info, kind);
  // A gamma that must not be applied.
  png_set_gAMA(png, info, 1.0);
  png_write_info(png, info);
  uint8_t rows[H][W * 8], *pointers[H];
  for (int y = 0; y < H; y++) write_row(pointers[y] = rows[y], kind, y);
  png_write_image(png, pointers);
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  assert_int_equal(fclose(file), 0);
}

static unsigned to_byte(unsigned value, int depth) {
  return (unsigned)floor(value * 255.0 / ((1 << depth) - 1) + 0.5);
}

/** Red, green, blue and alpha of a pixel, as the kind is defined. */
static void expect_rgba(unsigned rgba[4], Kind kind, int x, int y) {
  unsigned s[4] = {0};
  bool same = true; // as pixel (2, 3)
  for (int c = 0; c < samples_of(kind.type); c++) {
    s[c] = to_byte(sample(kind, x, y, c), kind.depth);
    same &= sample(kind, x, y, c) == sample(kind, 2, 3, c);
  }
  bool grey = !(kind.type & PNG_COLOR_MASK_COLOR);
  for (int c = 0; c < 3; c++) rgba[c] = s[grey ? 0 : c];
  rgba[3] = kind.type & PNG_COLOR_MASK_ALPHA ? s[grey ? 1 : 3] : 255;
  if (kind.transparent && same) rgba[3] = 0;
  if (kind.type != PNG_COLOR_TYPE_PALETTE) return;
  unsigned index = sample(kind, x, y, 0);
  png_color entry = palette_entry(index);
  rgba[0] = entry.red, rgba[1] = entry.green, rgba[2] = entry.blue;
  rgba[3] = kind.transparent && index < 2 ? palette_alpha(index) : 255;
}

static unsigned expect(Kind kind, int channels, int x, int y, int c) {
  unsigned rgba[4];
  expect_rgba(rgba, kind, x, y);
  for (int k = 0; k < 3; k++) rgba[k] = (unsigned)floor(rgba[k] * rgba[3] / 255.0 + 0.5);
  if (channels == 3) return rgba[c];
  return (unsigned)floor((299 * rgba[0] + 587 * rgba[1] + 114 * rgba[2]) / 1000.0 + 0.5);
}

/* ---- reading them ---- */

static void assert_reads(Kind kind, int channels) {
  FovPngHeader header;
  uint8_t pixels[H * W * 3];
  if (fov_png_header(&header, path) != FOV_OK ||
      fov_png_read(pixels, &header, channels, path) != FOV_OK)
    fail_msg("%s", fov_error_message());
  assert_int_equal(header.height, H);
  assert_int_equal(header.width, W);
  assert_int_equal(header.colour, kind.type & PNG_COLOR_MASK_COLOR ? 1 : 0);
  for (int i = 0; i < H * W * channels; i++) {
    int x = i / channels % W, y = i / channels / W, c = i % channels;
    unsigned expected = expect(kind, channels, x, y, c);
    if (pixels[i] != expected)
      fail_msg("type %d depth %d transparent %d interlaced %d: (%d, %d, %d) is %d, not %u",
               kind.type, kind.depth, kind.transparent, kind.interlaced, x, y, c, pixels[i],
               expected);
  }
}

static void reads_every_kind(void **state) {
  (void)state;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (const int *depth = types[t].depths; *depth; depth++)
      for (int flags = 0; flags < 4; flags++) {
        Kind kind = {types[t].type, *depth, flags & 1, flags & 2};
        if (kind.transparent && !types[t].may_be_transparent) continue;
        write_png(kind);
        assert_reads(kind, 1);
        assert_reads(kind, 3);
      }
}

/** Reads any file; an error must name it. */
static FovStatus read_whatever(void) {
  FovPngHeader header;
  FovStatus status = fov_png_header(&header, path);
  if (status == FOV_OK) {
    assert_in_range(header.height, 1, FOV_PNG_MAX_SIDE);
    assert_in_range(header.width, 1, FOV_PNG_MAX_SIDE);
    uint8_t *pixels = malloc((size_t)header.height * (size_t)header.width * 3);
    assert_non_null(pixels);
    status = fov_png_read(pixels, &header, 3, path);
    free(pixels);
  }
  if (status != FOV_OK) assert_non_null(strstr(fov_error_message(), path));
  return status;
}

static void assert_refused(const char *words) {
  assert_int_equal(read_whatever(), FOV_ERR_FORMAT);
  if (!strstr(fov_error_message(), words)) fail_msg("message: %s", fov_error_message());
}

/* ---- damaging them ---- */

static uint8_t bytes[LIMIT];

static size_t load(Kind kind) {
  write_png(kind);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t size = fread(bytes, 1, LIMIT, file);
  assert_int_equal(fclose(file), 0);
  return size;
}

static void store(size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static void put_u32(uint8_t *out, uint32_t value) {
  for (int i = 0; i < 4; i++) out[i] = (uint8_t)(value >> (24 - 8 * i));
}

static uint32_t get_u32(const uint8_t *b) {
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/** Corrects the checksum of the chunk at `offset`. */
static void sign(size_t offset) {
  uint32_t length = get_u32(bytes + offset);
  put_u32(bytes + offset + 8 + length, (uint32_t)crc32(0, bytes + offset + 4, length + 4));
}

static const Kind some_kinds[] = {
    {PNG_COLOR_TYPE_RGB_ALPHA, 8, false, true},
    {PNG_COLOR_TYPE_PALETTE, 4, true, false},
    {PNG_COLOR_TYPE_GRAY, 16, true, true},
};

static void refuses_every_truncation(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof some_kinds / sizeof *some_kinds; k++) {
    size_t whole = load(some_kinds[k]);
    for (size_t size = 0; size < whole; size++) {
      store(size);
      assert_refused(path);
    }
  }
}

/** Every byte is covered by a checksum. */
static void refuses_every_flipped_bit(void **state) {
  (void)state;
  size_t size = load(some_kinds[1]);
  for (size_t bit = 0; bit < 8 * size; bit++) {
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    store(size);
    assert_refused(path);
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
}

/** With bits flipped and checksums corrected, the result is another picture or a refusal. */
static void survives_forged_bits(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof some_kinds / sizeof *some_kinds; k++) {
    size_t size = load(some_kinds[k]), refused = 0;
    for (size_t chunk = 8; chunk < size; chunk += 12 + get_u32(bytes + chunk))
      for (size_t bit = 0; bit < 8 * (size_t)get_u32(bytes + chunk); bit++) {
        bytes[chunk + 8 + bit / 8] ^= (uint8_t)(1 << bit % 8);
        sign(chunk);
        store(size);
        refused += read_whatever() != FOV_OK;
        bytes[chunk + 8 + bit / 8] ^= (uint8_t)(1 << bit % 8);
        sign(chunk);
      }
    assert_true(refused > 0);
    store(size);
    assert_reads(some_kinds[k], 3);
  }
}

static void assert_size_refused(uint32_t width, uint32_t height, const char *words) {
  size_t size = load((Kind){PNG_COLOR_TYPE_GRAY, 8, false, false});
  put_u32(bytes + IHDR + 8, width);
  put_u32(bytes + IHDR + 12, height);
  sign(IHDR);
  store(size);
  assert_refused(words);
}

static void bounds_the_size(void **state) {
  (void)state;
  const char *limit = "at most 4096 x 4096 pixels: Image width exceeds user limit";
  assert_size_refused(FOV_PNG_MAX_SIDE + 1, H, limit);
  assert_size_refused(W, 0x7fffffff, "Image height exceeds user limit");
  assert_size_refused(W, 0xffffffff, "PNG");
  assert_size_refused(0, H, "Image width is zero");
  // A small file with a large picture in its header.
  assert_size_refused(FOV_PNG_MAX_SIDE, FOV_PNG_MAX_SIDE, "Not enough image data");
}

/** Puts a chunk before the pixels; returns the new size. */
static size_t insert_chunk(size_t size, const char *type, const void *data, uint32_t length) {
  size_t at = 8 + 25; // after the signature and IHDR
  memmove(bytes + at + 12 + length, bytes + at, size - at);
  put_u32(bytes + at, length);
  memcpy(bytes + at + 4, type, 4);
  memcpy(bytes + at + 8, data, length);
  sign(at);
  return size + 12 + length;
}

/** Text and profiles that would unpack to 64 MiB, or to an error, are not unpacked. */
static void skips_what_is_not_pixels(void **state) {
  (void)state;
  enum { BOMB = 64 << 20 };
  static const char *const chunks[] = {"zTXt", "iCCP"};
  uint8_t data[LIMIT / 2] = "name\0", packed[LIMIT / 2], *zeros = calloc(1, BOMB);
  assert_non_null(zeros);
  z_stream z = {.next_in = zeros, .avail_in = BOMB, .next_out = packed, .avail_out = sizeof packed};
  assert_int_equal(deflateInit(&z, 9), Z_OK);
  deflate(&z, Z_FINISH); // The largest number of chunks.
  for (size_t k = 0; k < 2; k++) {
    Kind kind = {PNG_COLOR_TYPE_RGB, 8, false, false};
    memcpy(data + 6, packed, sizeof data - 6);
    store(insert_chunk(load(kind), chunks[k], data, sizeof data));
    assert_reads(kind, 3);
    store(insert_chunk(load(kind), chunks[k], "name\0\0garbage", 13));
    assert_reads(kind, 3);
  }
  deflateEnd(&z);
  free(zeros);
}

static void takes_any_number_of_chunks(void **state) {
  (void)state;
  Kind kind = {PNG_COLOR_TYPE_GRAY, 8, false, false};
  size_t size = load(kind);
  for (int i = 0; i < 1000; i++) size = insert_chunk(size, "tEXt", "name\0text", 9);
  store(size);
  assert_reads(kind, 1);
}

static void refuses_chunks_too_large_or_unknown(void **state) {
  (void)state;
  Kind kind = {PNG_COLOR_TYPE_GRAY, 8, false, false};
  size_t size = insert_chunk(load(kind), "tEXt", "name\0text", 9);
  put_u32(bytes + 33, 0x7fffffff);
  store(size);
  assert_refused("too large");
  store(insert_chunk(load(kind), "CgBI", "\0\0\0\0",
                     4)); // A critical chunk: it changes the meaning of pixels.
  assert_refused("CgBI");
}

/** Pixels with an index beyond the palette are black. */
static void an_index_beyond_the_palette_is_black(void **state) {
  (void)state;
  enum { ENTRIES = 5 };
  Kind kind = {PNG_COLOR_TYPE_PALETTE, 4, false, false};
  size_t size = load(kind), at = 8 + 25;
  while (memcmp(bytes + at + 4, "PLTE", 4) != 0) at += 12 + get_u32(bytes + at);
  size_t end = at + 12 + 3 * 16, shorter = at + 12 + 3 * ENTRIES;
  memmove(bytes + shorter, bytes + end, size - end);
  put_u32(bytes + at, 3 * ENTRIES);
  sign(at);
  store(size - (end - shorter));
  FovPngHeader header;
  uint8_t pixels[H * W * 3];
  assert_int_equal(fov_png_header(&header, path), FOV_OK);
  assert_int_equal(fov_png_read(pixels, &header, 3, path), FOV_OK);
  for (int i = 0; i < H * W * 3; i++) {
    int x = i / 3 % W, y = i / 3 / W;
    bool inside = sample(kind, x, y, 0) < ENTRIES;
    assert_int_equal(pixels[i], inside ? expect(kind, 3, x, y, i % 3) : 0);
  }
}

static void refuses_files_that_are_not_png(void **state) {
  (void)state;
  strcpy((char *)bytes, "GIF89a with another file name");
  store(30);
  assert_refused("Not a PNG file");
  store(0);
  assert_refused("cut short");
  unlink(path);
  FovPngHeader header;
  assert_int_equal(fov_png_header(&header, path), FOV_ERR_IO);
  assert_ptr_equal(strstr(fov_error_message(), path), fov_error_message());
  assert_int_equal(fov_png_header(&header, folder), FOV_ERR_IO);
  assert_non_null(strstr(fov_error_message(), "found a folder"));
}

/** The pipe has no writer: a blocking open would never return. */
static void refuses_a_pipe_without_waiting(void **state) {
  (void)state;
  FovPngHeader header;
  uint8_t pixels[1];
  unlink(path);
  assert_int_equal(mkfifo(path, 0666), 0);
  alarm(10); // ends this program if it blocks
  assert_int_equal(fov_png_header(&header, path), FOV_ERR_IO);
  assert_int_equal(fov_png_read(pixels, &(FovPngHeader){.height = 1, .width = 1}, 1, path),
                   FOV_ERR_IO);
  alarm(0);
  unlink(path);
  assert_non_null(strstr(fov_error_message(), "found a pipe"));
}

static void notices_that_a_file_has_changed(void **state) {
  (void)state;
  uint8_t pixels[1];
  write_png(some_kinds[0]);
  FovPngHeader header = {.height = 1, .width = 1};
  assert_int_equal(fov_png_read(pixels, &header, 1, path), FOV_ERR_IO);
  assert_non_null(strstr(fov_error_message(), "expected 1 x 1 pixels, found 13 x 11"));
}

static int enter(void **state) {
  (void)state;
  return make_folder("picture.png");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_every_kind),
      cmocka_unit_test(refuses_every_truncation),
      cmocka_unit_test(refuses_every_flipped_bit),
      cmocka_unit_test(survives_forged_bits),
      cmocka_unit_test(bounds_the_size),
      cmocka_unit_test(skips_what_is_not_pixels),
      cmocka_unit_test(takes_any_number_of_chunks),
      cmocka_unit_test(refuses_chunks_too_large_or_unknown),
      cmocka_unit_test(an_index_beyond_the_palette_is_black),
      cmocka_unit_test(refuses_files_that_are_not_png),
      cmocka_unit_test(refuses_a_pipe_without_waiting),
      cmocka_unit_test(notices_that_a_file_has_changed),
  };
  return cmocka_run_group_tests(tests, enter, remove_folder);
}
