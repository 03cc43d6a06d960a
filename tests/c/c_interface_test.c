/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that raydex.h offers, on the backend RAYDEX_TESTED_BACKEND, against loops over arrays;
 * and everything that it refuses. Ends with 77 where there is no such backend. */
#include <raydex/raydex.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;
static raydex_session* session = NULL;

#define EXPECT(condition)                                                                \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      printf("%s:%d: not so: %s (last error: %s)\n", __FILE__, __LINE__, #condition,     \
             raydex_last_error());                                                       \
      ++failures;                                                                        \
    }                                                                                    \
  } while (0)

/* A call that must fail with a status, and whose text has a word. */
static void expect_refused(int line, raydex_status status, raydex_status expected,
                           const char* word) {
  if (status == expected && strstr(raydex_last_error(), word) != NULL) return;
  printf("%s:%d: status %d, not %d, or no '%s' in: %s\n", __FILE__, line, (int)status,
         (int)expected, word, raydex_last_error());
  ++failures;
}
#define EXPECT_REFUSED(call, expected, word) expect_refused(__LINE__, call, expected, word)

/* A copy of an array in the backend's memory. */
static void* placed(const void* host, size_t bytes) {
  void* memory = NULL;
  EXPECT(raydex_allocate(session, bytes, &memory) == RAYDEX_OK);
  EXPECT(raydex_copy_in(session, memory, host, bytes) == RAYDEX_OK);
  return memory;
}

static raydex_column int32_column(const void* data, uint64_t length) {
  raydex_column column = {0};
  column.type = RAYDEX_INT32;
  column.data = data;
  column.length = length;
  return column;
}

#define ROWS 101
#define PROBES 40
static int32_t keys[ROWS];
static uint8_t key_bits[(ROWS + 3 + 7) / 8];
static int32_t lower[PROBES];
static int32_t upper[PROBES];

static int key_is_there(int row) {
  const int bit = row + 3;
  return key_bits[bit / 8] >> bit % 8 & 1;
}

static void make_tables(void) {
  uint32_t random = 12345;
  for (int i = 0; i < ROWS; ++i) {
    random = random * 1664525U + 1013904223U;
    keys[i] = (int32_t)(random >> 16) % 50;
    if ((random >> 8 & 7U) != 0)
      key_bits[(i + 3) / 8] = (uint8_t)(key_bits[(i + 3) / 8] | 1U << (i + 3) % 8);
  }
  for (int i = 0; i < PROBES; ++i) {
    random = random * 1664525U + 1013904223U;
    lower[i] = (int32_t)(random >> 16) % 60 - 5;
    upper[i] = lower[i] + (int32_t)(random >> 8 & 7U) - 1;
  }
}

/* The matches of each probe: how many, and the first one. */
static uint64_t counts[PROBES];
static uint64_t firsts[PROBES];
static void find_matches(int is_point) {
  for (int i = 0; i < PROBES; ++i) {
    counts[i] = 0;
    firsts[i] = RAYDEX_NO_ROW;
    for (int row = ROWS - 1; row >= 0; --row) {
      const int32_t end = is_point ? lower[i] : upper[i];
      if (!key_is_there(row) || keys[row] < lower[i] || keys[row] > end) continue;
      firsts[i] = (uint64_t)row;
      ++counts[i];
    }
  }
}

static void test_lookups(const char* structure, const char* options, int is_point) {
  void* const placed_keys = placed(keys, sizeof keys);
  void* const placed_bits = placed(key_bits, sizeof key_bits);
  void* const placed_lower = placed(lower, sizeof lower);
  void* const placed_upper = placed(upper, sizeof upper);
  raydex_column column = int32_column(placed_keys, ROWS);
  column.validity = placed_bits;
  column.validity_offset = 3;
  const raydex_column from = int32_column(placed_lower, PROBES);
  const raydex_column to = int32_column(placed_upper, PROBES);
  const raydex_column* const end = is_point ? NULL : &to;
  raydex_index* index = NULL;
  EXPECT(raydex_build(session, structure, options, &column, &index) == RAYDEX_OK);
  if (index == NULL) return;

  uint64_t answers[PROBES + 1];
  uint64_t offsets[PROBES + 1];
  uint8_t there[PROBES];
  void* out = NULL;
  find_matches(is_point);
  EXPECT(raydex_allocate(session, sizeof answers, &out) == RAYDEX_OK);
  EXPECT(raydex_first(index, &from, end, out, PROBES) == RAYDEX_OK);
  EXPECT(raydex_copy_out(session, answers, out, sizeof(uint64_t) * PROBES) == RAYDEX_OK);
  for (int i = 0; i < PROBES; ++i)
    EXPECT(answers[i] == firsts[i]);
  EXPECT(raydex_count(index, &from, end, out, PROBES) == RAYDEX_OK);
  EXPECT(raydex_copy_out(session, answers, out, sizeof(uint64_t) * PROBES) == RAYDEX_OK);
  for (int i = 0; i < PROBES; ++i)
    EXPECT(answers[i] == counts[i]);
  EXPECT(raydex_contains(index, &from, end, out, PROBES) == RAYDEX_OK);
  EXPECT(raydex_copy_out(session, there, out, PROBES) == RAYDEX_OK);
  for (int i = 0; i < PROBES; ++i)
    EXPECT(there[i] == (counts[i] != 0));

  uint64_t total = 0;
  EXPECT(raydex_offsets(index, &from, end, out, PROBES + 1, &total) == RAYDEX_OK);
  EXPECT(raydex_copy_out(session, offsets, out, sizeof offsets) == RAYDEX_OK);
  EXPECT(total == offsets[PROBES]);
  void* rows = NULL;
  EXPECT(raydex_allocate(session, total * sizeof(uint64_t), &rows) == RAYDEX_OK);
  EXPECT(raydex_rows(index, &from, end, out, rows, total) == RAYDEX_OK);
  uint64_t* const found = malloc(total * sizeof(uint64_t) + 1);
  EXPECT(raydex_copy_out(session, found, rows, total * sizeof(uint64_t)) == RAYDEX_OK);
  for (int i = 0; i < PROBES; ++i) {
    EXPECT(offsets[i + 1] - offsets[i] == counts[i]);
    for (uint64_t j = offsets[i]; j < offsets[i + 1]; ++j) {
      const int row = (int)found[j];
      EXPECT(found[j] < ROWS && key_is_there(row) && keys[row] >= lower[i] &&
             keys[row] <= (is_point ? lower[i] : upper[i]));
      EXPECT(j == offsets[i] || found[j] != found[j - 1]);
    }
  }
  EXPECT(raydex_synchronize(session) == RAYDEX_OK);
  free(found);
  raydex_free_index(index);
  raydex_free(session, rows);
  raydex_free(session, out);
  raydex_free(session, placed_keys);
  raydex_free(session, placed_bits);
  raydex_free(session, placed_lower);
  raydex_free(session, placed_upper);
}

/* The pairs of two tables, by loops; of texts if they are so joined, and of numbers. */
static const char* const words = "oneonetwothreefour";
static const int32_t build_words[] = {0, 3, 6, 9, 14, 18}; /* one one two three four */
static const int32_t probe_words[] = {3, 6, 9, 9, 14};     /* one two "" three */
static const int32_t build_numbers[] = {1, 1, 2, 3, 4};
static const int32_t probe_numbers[] = {1, 2, 2, 4};

static int word_equal(int build, int probe) {
  const int size = build_words[build + 1] - build_words[build];
  return size == probe_words[probe + 1] - probe_words[probe] &&
         memcmp(words + build_words[build], words + probe_words[probe], (size_t)size) == 0;
}

static void test_join(raydex_join_kind kind, size_t columns) {
  void* const text = placed(words, strlen(words));
  void* const build_offsets = placed(build_words, sizeof build_words);
  void* const probe_offsets = placed(probe_words, sizeof probe_words);
  void* const builds = placed(build_numbers, sizeof build_numbers);
  void* const probes = placed(probe_numbers, sizeof probe_numbers);
  raydex_column build[2] = {int32_column(builds, 5), {0}};
  raydex_column probe[2] = {int32_column(probes, 4), {0}};
  build[1].type = probe[1].type = RAYDEX_STRING;
  build[1].data = probe[1].data = text;
  build[1].offsets = build_offsets;
  probe[1].offsets = probe_offsets;
  build[1].length = 5;
  probe[1].length = 4;

  uint64_t expected[16][2];
  uint64_t count = 0;
  int build_matched[5] = {0};
  for (int p = 0; p < 4; ++p) {
    int any = 0;
    for (int b = 0; b < 5; ++b) {
      if (build_numbers[b] != probe_numbers[p] || (columns == 2 && !word_equal(b, p))) continue;
      build_matched[b] = 1;
      if ((kind == RAYDEX_SEMI && any) || kind == RAYDEX_ANTI) {
        any = 1;
        continue;
      }
      any = 1;
      expected[count][0] = (uint64_t)p;
      expected[count++][1] = (uint64_t)b;
    }
    if (any || kind == RAYDEX_INNER || kind == RAYDEX_SEMI || kind == RAYDEX_RIGHT) continue;
    expected[count][0] = (uint64_t)p;
    expected[count++][1] = RAYDEX_NO_ROW;
  }
  for (int b = 0; b < 5 && (kind == RAYDEX_RIGHT || kind == RAYDEX_FULL); ++b) {
    if (build_matched[b]) continue;
    expected[count][0] = RAYDEX_NO_ROW;
    expected[count++][1] = (uint64_t)b;
  }

  raydex_pairs pairs;
  memset(&pairs, 0xff, sizeof pairs);
  EXPECT(raydex_join(session, build, probe, columns, kind, &pairs) == RAYDEX_OK);
  EXPECT(pairs.length == count);
  uint64_t rows[16];
  if (pairs.length == count && count != 0) {
    EXPECT(raydex_copy_out(session, rows, pairs.probe_rows, count * sizeof *rows) == RAYDEX_OK);
    for (uint64_t i = 0; i < count; ++i)
      EXPECT(rows[i] == expected[i][0]);
    EXPECT((pairs.build_rows == NULL) == (kind == RAYDEX_SEMI || kind == RAYDEX_ANTI));
    if (pairs.build_rows != NULL) {
      EXPECT(raydex_copy_out(session, rows, pairs.build_rows, count * sizeof *rows) == RAYDEX_OK);
      for (uint64_t i = 0; i < count; ++i)
        EXPECT(rows[i] == expected[i][1]);
    }
  }
  raydex_free_pairs(session, &pairs);
  EXPECT(pairs.probe_rows == NULL && pairs.build_rows == NULL && pairs.length == 0);
  raydex_free(session, text);
  raydex_free(session, build_offsets);
  raydex_free(session, probe_offsets);
  raydex_free(session, builds);
  raydex_free(session, probes);
}

/* Strings of 3 bytes, and both ends of ranges in one array, as every other cell. */
static void test_layouts(void) {
  static const char names[] = "bobannannzoe";
  static const char wanted[] = "aaabobzzz";
  void* const placed_names = placed(names, 12);
  void* const placed_wanted = placed(wanted, 9);
  raydex_column column = {0};
  column.type = RAYDEX_BYTES;
  column.width = 3;
  column.data = placed_names;
  column.length = 4;
  raydex_column from = column;
  from.data = placed_wanted;
  from.length = 2;
  raydex_column to = from;
  to.data = (const char*)placed_wanted + 3;
  raydex_index* index = NULL;
  void* out = NULL;
  uint64_t found[2] = {0};
  EXPECT(raydex_build(session, NULL, NULL, &column, &index) == RAYDEX_OK);
  EXPECT(raydex_allocate(session, sizeof found, &out) == RAYDEX_OK);
  /* aaa to bob: 3 names; bob to zzz: bob and zoe */
  EXPECT(raydex_count(index, &from, &to, out, 2) == RAYDEX_OK);
  EXPECT(raydex_copy_out(session, found, out, sizeof found) == RAYDEX_OK);
  EXPECT(found[0] == 3 && found[1] == 2);

  const int32_t ends[] = {1, 3, 3, 2}; /* 1 to 3, and an empty range */
  void* const placed_ends = placed(ends, sizeof ends);
  const int32_t numbers[] = {3, 2, 1, 0};
  void* const placed_numbers = placed(numbers, sizeof numbers);
  const raydex_column whole = int32_column(placed_numbers, 4);
  from = int32_column(placed_ends, 2);
  to = int32_column((const int32_t*)placed_ends + 1, 2);
  from.stride = to.stride = 8;
  raydex_index* numbered = NULL;
  EXPECT(raydex_build(session, "pivot_tree", "", &whole, &numbered) == RAYDEX_OK);
  EXPECT(raydex_count(numbered, &from, &to, out, 2) == RAYDEX_OK);
  EXPECT(raydex_copy_out(session, found, out, sizeof found) == RAYDEX_OK);
  EXPECT(found[0] == 3 && found[1] == 0);
  raydex_free_index(numbered);
  raydex_free_index(index);
  raydex_free(session, out);
  raydex_free(session, placed_names);
  raydex_free(session, placed_wanted);
  raydex_free(session, placed_ends);
  raydex_free(session, placed_numbers);
}

static void test_refusals(void) {
  void* const cells = placed(keys, sizeof keys);
  const raydex_column good = int32_column(cells, 10);
  raydex_column bad = good;
  raydex_index* index = NULL;
  raydex_session* other = (raydex_session*)(void*)&index;
  void* memory = cells;
  uint64_t total = 0;
  raydex_pairs pairs;

  EXPECT_REFUSED(raydex_open("gpu", &other), RAYDEX_INVALID_ARGUMENT, "'gpu' is not one of auto");
  EXPECT(other == NULL);
  EXPECT_REFUSED(raydex_open("cpu", NULL), RAYDEX_INVALID_ARGUMENT, "session");
  EXPECT_REFUSED(raydex_allocate(NULL, 8, &memory), RAYDEX_INVALID_ARGUMENT, "session");
  EXPECT(memory == NULL);
  EXPECT_REFUSED(raydex_allocate(session, 8, NULL), RAYDEX_INVALID_ARGUMENT, "memory");
  EXPECT_REFUSED(raydex_allocate(session, UINT64_MAX, &memory), RAYDEX_OUT_OF_MEMORY, "memory");
  EXPECT(raydex_allocate(session, 0, &memory) == RAYDEX_OK && memory == NULL);
  EXPECT_REFUSED(raydex_copy_in(session, NULL, keys, 4), RAYDEX_INVALID_ARGUMENT, "to");
  EXPECT_REFUSED(raydex_copy_in(session, cells, NULL, 4), RAYDEX_INVALID_ARGUMENT, "from");
  EXPECT_REFUSED(raydex_copy_in(NULL, cells, keys, 4), RAYDEX_INVALID_ARGUMENT, "session");
  EXPECT_REFUSED(raydex_copy_out(session, NULL, cells, 4), RAYDEX_INVALID_ARGUMENT, "to");
  EXPECT(raydex_copy_out(session, NULL, NULL, 0) == RAYDEX_OK);
  EXPECT_REFUSED(raydex_synchronize(NULL), RAYDEX_INVALID_ARGUMENT, "session");

  EXPECT_REFUSED(raydex_build(NULL, NULL, NULL, &good, &index), RAYDEX_INVALID_ARGUMENT, "session");
  EXPECT_REFUSED(raydex_build(session, NULL, NULL, NULL, &index), RAYDEX_INVALID_ARGUMENT, "keys");
  EXPECT_REFUSED(raydex_build(session, NULL, NULL, &good, NULL), RAYDEX_INVALID_ARGUMENT, "index");
  EXPECT_REFUSED(raydex_build(session, "b-tree", NULL, &good, &index), RAYDEX_INVALID_ARGUMENT,
                 "'b-tree'");
  EXPECT_REFUSED(raydex_build(session, "btree", "node", &good, &index), RAYDEX_INVALID_ARGUMENT,
                 "'node' has no value");
  EXPECT_REFUSED(raydex_build(session, "btree", "nodes=7", &good, &index), RAYDEX_INVALID_ARGUMENT,
                 "nodes");
  EXPECT(index == NULL);
  bad.type = 9;
  EXPECT_REFUSED(raydex_build(session, NULL, NULL, &bad, &index), RAYDEX_INVALID_ARGUMENT, "type 9");
  bad.type = -1;
  EXPECT_REFUSED(raydex_build(session, NULL, NULL, &bad, &index), RAYDEX_INVALID_ARGUMENT,
                 "type -1");
  bad.type = RAYDEX_STRING;
  EXPECT_REFUSED(raydex_build(session, NULL, NULL, &bad, &index), RAYDEX_INVALID_ARGUMENT,
                 "keys of joins alone");
  bad.type = RAYDEX_BYTES;
  EXPECT_REFUSED(raydex_build(session, NULL, NULL, &bad, &index), RAYDEX_INVALID_ARGUMENT,
                 "strings of 0 bytes");
  bad = good;
  bad.width = 8;
  EXPECT_REFUSED(raydex_build(session, NULL, NULL, &bad, &index), RAYDEX_INVALID_ARGUMENT,
                 "cells of int32 have 4 bytes, not 8");
  bad = good;
  bad.length = UINT64_MAX / 2;
  EXPECT_REFUSED(raydex_build(session, NULL, NULL, &bad, &index), RAYDEX_INVALID_ARGUMENT, "2^63");
  bad = good;
  bad.data = NULL;
  EXPECT_REFUSED(raydex_build(session, NULL, NULL, &bad, &index), RAYDEX_INVALID_ARGUMENT,
                 "null pointer");
  bad = good;
  bad.data = (const char*)cells + 1;
  EXPECT_REFUSED(raydex_build(session, NULL, NULL, &bad, &index), RAYDEX_INVALID_ARGUMENT,
                 "aligned to 4 bytes");
  bad = good;
  bad.validity = cells;
  bad.validity_offset = UINT64_MAX;
  EXPECT_REFUSED(raydex_build(session, NULL, NULL, &bad, &index), RAYDEX_INVALID_ARGUMENT,
                 "begins at bit");

  EXPECT(raydex_build(session, "hash_open", NULL, &good, &index) == RAYDEX_OK);
  void* out = NULL;
  EXPECT(raydex_allocate(session, 11 * sizeof(uint64_t), &out) == RAYDEX_OK);
  EXPECT_REFUSED(raydex_first(NULL, &good, NULL, out, 10), RAYDEX_INVALID_ARGUMENT, "index");
  EXPECT_REFUSED(raydex_first(index, NULL, NULL, out, 10), RAYDEX_INVALID_ARGUMENT, "lower");
  EXPECT_REFUSED(raydex_first(index, &good, NULL, NULL, 10), RAYDEX_INVALID_ARGUMENT, "out");
  EXPECT_REFUSED(raydex_first(index, &good, NULL, out, 9), RAYDEX_INVALID_ARGUMENT,
                 "room for 9 probes, but there are 10");
  EXPECT_REFUSED(raydex_count(index, &good, NULL, out, 11), RAYDEX_INVALID_ARGUMENT, "room for 11");
  EXPECT_REFUSED(raydex_count(index, &good, NULL, NULL, 10), RAYDEX_INVALID_ARGUMENT, "out");
  EXPECT_REFUSED(raydex_contains(index, &good, NULL, out, 9), RAYDEX_INVALID_ARGUMENT, "room for 9");
  EXPECT_REFUSED(raydex_count(index, &good, &good, out, 10), RAYDEX_UNSUPPORTED, "pivot_tree");
  EXPECT_REFUSED(raydex_offsets(index, &good, NULL, out, 0, &total), RAYDEX_INVALID_ARGUMENT,
                 "no room");
  EXPECT_REFUSED(raydex_offsets(index, &good, NULL, out, 10, &total), RAYDEX_INVALID_ARGUMENT,
                 "room for");
  EXPECT_REFUSED(raydex_rows(index, &good, NULL, NULL, out, 10), RAYDEX_INVALID_ARGUMENT, "offsets");
  bad = good;
  bad.type = RAYDEX_FLOAT;
  EXPECT_REFUSED(raydex_first(index, &bad, NULL, out, 10), RAYDEX_INVALID_ARGUMENT, "float");

  EXPECT_REFUSED(raydex_join(NULL, &good, &good, 1, RAYDEX_INNER, &pairs), RAYDEX_INVALID_ARGUMENT,
                 "session");
  EXPECT(pairs.probe_rows == NULL && pairs.length == 0);
  EXPECT_REFUSED(raydex_join(session, &good, &good, 1, RAYDEX_INNER, NULL), RAYDEX_INVALID_ARGUMENT,
                 "pairs");
  EXPECT_REFUSED(raydex_join(session, NULL, &good, 1, RAYDEX_INNER, &pairs), RAYDEX_INVALID_ARGUMENT,
                 "build");
  EXPECT_REFUSED(raydex_join(session, &good, NULL, 1, RAYDEX_INNER, &pairs), RAYDEX_INVALID_ARGUMENT,
                 "probe");
  EXPECT_REFUSED(raydex_join(session, &good, &good, 0, RAYDEX_INNER, &pairs),
                 RAYDEX_INVALID_ARGUMENT, "columns: 0");
  EXPECT_REFUSED(raydex_join(session, &good, &good, 17, RAYDEX_INNER, &pairs),
                 RAYDEX_INVALID_ARGUMENT, "columns: 17");
  EXPECT_REFUSED(raydex_join(session, &good, &good, 1, 6, &pairs), RAYDEX_INVALID_ARGUMENT,
                 "kind: 6");
  EXPECT_REFUSED(raydex_join(session, &good, &bad, 1, RAYDEX_INNER, &pairs),
                 RAYDEX_INVALID_ARGUMENT, "float");
  bad.type = RAYDEX_LARGE_STRING;
  EXPECT_REFUSED(raydex_join(session, &bad, &bad, 1, RAYDEX_INNER, &pairs), RAYDEX_INVALID_ARGUMENT,
                 "offsets");

  /* The text stays until another call fails. */
  EXPECT(raydex_synchronize(session) == RAYDEX_OK);
  EXPECT(strstr(raydex_last_error(), "offsets") != NULL);

  /* Nothing, and what is not of the session. */
  raydex_free_pairs(session, NULL);
  raydex_free(session, NULL);
  raydex_free(NULL, cells);
  raydex_free(session, &total);
  raydex_close(NULL);
  raydex_free_index(NULL);
  EXPECT(strcmp(raydex_backend(NULL), "") == 0);

  raydex_free_index(index);
  raydex_free(session, out);
  raydex_free(session, cells);
}

/* An index outlives its session, and a session frees what was left. */
static void test_lifetimes(const char* backend) {
  raydex_session* first = NULL;
  void* memory = NULL;
  raydex_index* index = NULL;
  raydex_column column = int32_column(NULL, 0);
  const raydex_column none = int32_column(NULL, 0);
  EXPECT(raydex_open(backend, &first) == RAYDEX_OK);
  EXPECT(raydex_allocate(first, sizeof keys, &memory) == RAYDEX_OK);
  EXPECT(raydex_copy_in(first, memory, keys, sizeof keys) == RAYDEX_OK);
  column.data = memory;
  column.length = ROWS;
  EXPECT(raydex_build(first, "sorted_array", NULL, &column, &index) == RAYDEX_OK);
  EXPECT(raydex_synchronize(first) == RAYDEX_OK);
  raydex_close(first);
  EXPECT(raydex_count(index, &none, NULL, NULL, 0) == RAYDEX_OK);
  raydex_free_index(index);
}

int main(void) {
  const char* const backend = RAYDEX_TESTED_BACKEND;
  EXPECT(strcmp(raydex_last_error(), "") == 0);
  EXPECT(strchr(raydex_version(), '.') != NULL);
  const raydex_status status = raydex_open(backend, &session);
  if (status == RAYDEX_UNAVAILABLE) {
    printf("skipped: %s\n", raydex_last_error());
    return 77;
  }
  EXPECT(status == RAYDEX_OK);
  if (session == NULL) return 1;
  EXPECT(strcmp(raydex_backend(session), backend) == 0);
  make_tables();
  test_lookups("hash_open", "", 1);
  test_lookups("auto", NULL, 0);
  test_lookups(NULL, NULL, 1);
  test_lookups("pivot_tree", " search=lines ", 0);
  for (raydex_join_kind kind = RAYDEX_INNER; kind <= RAYDEX_FULL; ++kind) {
    test_join(kind, 1);
    test_join(kind, 2);
  }
  test_layouts();
  test_refusals();
  test_lifetimes(backend);
  raydex_close(session);
  if (failures != 0) printf("%d failed\n", failures);
  return failures != 0;
}
