/**
 * The digest of a file stands at a fixed place, in the first text of its header:
 *
 *     {"__metadata__":{"digest":"xxh64:0123456789abcdef", ...
 *                     | KEY    || NAME|| DIGEST_AT
 *
 * It covers every byte of the file, with zeros in the place of its own digits. Key and algorithm
 * both mark a file that has one, so that damage to either does not make it a file without.
 */
#include <string.h>

#include "base/digest.h"
#include "record/safetensors_parts.h"

#define DIGEST_START "{\"" FOV_METADATA "\":{"
#define DIGEST_KEY "\"" FOV_DIGEST_TEXT "\":\""

enum {
  KEY_AT = sizeof DIGEST_START - 1,
  NAME_AT = KEY_AT + sizeof DIGEST_KEY - 1,
  DIGEST_AT = NAME_AT + sizeof FOV_DIGEST_NAME - 1, /**< from the start of the header */
  DIGEST_END = DIGEST_AT + FOV_DIGEST_SIZE,
};

void fov_safetensors_set_digest(char *header, uint64_t size, const FovBlob *blobs, size_t count) {
  FOV_CHECK(memcmp(header + KEY_AT, DIGEST_KEY FOV_DIGEST_NAME FOV_DIGEST_ZEROS,
                   DIGEST_END - KEY_AT) == 0,
            "a header that starts otherwise: %.64s", header);
  FovDigest digest = FOV_DIGEST_START;
  fov_digest_add(&digest, &size, FOV_HEADER_PREFIX);
  fov_digest_add(&digest, header, size);
  for (size_t i = 0; i < count; i++)
    fov_digest_add(&digest, blobs[i].data, fov_blob_size(&blobs[i]));
  char text[FOV_DIGEST_SIZE + 1];
  memcpy(header + DIGEST_AT, fov_digest_print(text, fov_digest_value(&digest)), FOV_DIGEST_SIZE);
}

/** The digest of the file, with zeros in the place of the header's digits. */
static uint64_t compute(const uint8_t *file, size_t size) {
  const size_t at = FOV_HEADER_PREFIX + DIGEST_AT, end = FOV_HEADER_PREFIX + DIGEST_END;
  FovDigest digest = FOV_DIGEST_START;
  fov_digest_add(&digest, file, at);
  fov_digest_add(&digest, FOV_DIGEST_ZEROS, FOV_DIGEST_SIZE);
  fov_digest_add(&digest, file + end, size - end);
  return fov_digest_value(&digest);
}

FovStatus fov_safetensors_check_digest(bool *checked, const char *path, const uint8_t *file,
                                       size_t size, size_t header) {
  const char *text = (const char *)file + FOV_HEADER_PREFIX;
  if (header < DIGEST_END) return FOV_OK;
  bool key = memcmp(text + KEY_AT, DIGEST_KEY, NAME_AT - KEY_AT) == 0;
  bool name = memcmp(text + NAME_AT, FOV_DIGEST_NAME, DIGEST_AT - NAME_AT) == 0;
  if (!key && !name) return FOV_OK;
  char expected[FOV_DIGEST_SIZE + 1];
  fov_digest_print(expected, compute(file, size));
  *checked = memcmp(text + DIGEST_AT, expected, FOV_DIGEST_SIZE) == 0;
  if (*checked) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT,
                  "%s: its digest is %.16s, but its bytes have %s: the file is damaged; restore it "
                  "from a copy",
                  path, text + DIGEST_AT, expected);
}
