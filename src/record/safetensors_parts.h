/** What the files of the safetensors format share. */
#ifndef FOV_RECORD_SAFETENSORS_PARTS_H
#define FOV_RECORD_SAFETENSORS_PARTS_H

#include "record/safetensors.h"

enum {
  FOV_HEADER_PREFIX = 8,      /**< bytes of the header's length, which stands before it */
  FOV_HEADER_LIMIT = 1 << 20, /**< fovea's are 2 to 10 KiB, or more with the names of symbols; the
                                 format allows 100 MB */
  FOV_DTYPES = FOV_DTYPE_F64 + 1,
};

/** The key of the texts, and what the first of them is before the digest is known. */
#define FOV_METADATA "__metadata__"
#define FOV_DIGEST_TEXT "digest"
#define FOV_DIGEST_NAME "xxh64:"
#define FOV_DIGEST_ZEROS "0000000000000000"

/** As it stands in a header: "F32". */
const char *fov_dtype_name(FovDtype dtype);

/** Bytes of a blob's data; false if a shape is negative or its bytes do not fit 63 bits. */
bool fov_blob_measure(size_t *size, const FovBlob *blob);

/** Puts the digest of the whole file into its header. header: [size], padding included */
void fov_safetensors_set_digest(char *header, uint64_t size, const FovBlob *blobs, size_t count);

/** Checks the digest, if the header has one: `checked`. file: [size]; header: bytes of it, which
 * are within the file. */
FovStatus fov_safetensors_check_digest(bool *checked, const char *path, const uint8_t *file,
                                       size_t size, size_t header);

#endif
