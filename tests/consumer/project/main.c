/* SPDX-License-Identifier: Apache-2.0 */
#include <raydex/raydex.h>
#include <stdint.h>
#include <stdio.h>

static raydex_session* session; /* memory and a stream on the GPU; on the CPU, where there is no GPU */

static int failed(raydex_status status) {
  if (status != RAYDEX_OK) fprintf(stderr, "raydex: %s\n", raydex_last_error());
  return status != RAYDEX_OK;
}

/* A column of the session's memory, as yours may be from the start. */
static raydex_status upload(const int32_t* cells, uint64_t length, raydex_column* column) {
  void* memory = NULL;
  const raydex_status status = raydex_allocate(session, length * sizeof *cells, &memory);
  *column = (raydex_column){.type = RAYDEX_INT32, .data = memory, .length = length};
  return status != RAYDEX_OK ? status : raydex_copy_in(session, memory, cells, length * sizeof *cells);
}

int main(void) {
  const int32_t prices[] = {50, 20, 40, 20, 30};
  const int32_t asked[] = {20, 35, 60};
  raydex_column keys;
  raydex_column points;
  raydex_index* index = NULL;
  void* out = NULL;
  uint64_t counts[3];
  raydex_pairs pairs;

  if (failed(raydex_open("auto", &session)) || failed(upload(prices, 5, &keys)) ||
      failed(upload(asked, 3, &points)) || failed(raydex_build(session, "auto", "", &keys, &index)) ||
      failed(raydex_allocate(session, sizeof counts, &out)) ||
      failed(raydex_count(index, &points, NULL, out, 3)) ||
      failed(raydex_copy_out(session, counts, out, sizeof counts)) ||
      failed(raydex_join(session, &keys, &points, 1, RAYDEX_INNER, &pairs)))
    return 1;
  for (int i = 0; i < 3; ++i)
    printf("%d: %d rows\n", (int)asked[i], (int)counts[i]);
  printf("%d pairs\n", (int)pairs.length);
  raydex_free_index(index);
  raydex_close(session); /* and all that it gave */
  return 0;
}
