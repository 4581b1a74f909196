/** Tables in CSV files. */
#include "record/csv.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FovCsv csv;
  size_t length = 0;
  FovStatus status = fov_csv_read(&csv, fuzz_file("input", data, size));
  fuzz_check_message(status);
  for (int i = 0; status == FOV_OK && i < csv.rows * csv.columns; i++)
    length += strlen(csv.cells[i]);
  FOV_CHECK(length <= size, "more text than the file has");
  fov_csv_finish(&csv);
  return 0;
}
