/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * raydex from C, and from what binds to C: indexes and joins over columns. Plain C11, in the same
 * library as the C++ interface, and no more of that than is needed.
 *
 * *Errors*: calls that may fail return a status. After one that is not RAYDEX_OK the thread's
 * raydex_last_error() says what is wrong, outputs may be written in part, and what was to be
 * returned is null. *Memory*: columns and outputs are in the memory of the session's backend, that
 * of the host for "cpu", else that of the GPU; raydex_allocate() gives some, and any other of that
 * space will do. *Streams*: on a GPU work is queued on the session's stream, and calls may return
 * before it is done, so that inputs must stay as they are until then; raydex_synchronize() waits
 * for it, and raydex_copy_in() and raydex_copy_out() do. *Threads*: several may use one session and
 * query one index. *Devices*: the GPU that was current when a session was opened has to be so in
 * every call for it. *Row ids* are numbers of 64 bits, from 0; RAYDEX_NO_ROW is none.
 *
 * While raydex_version() begins with 0, this may change with the second number of it. */
#ifndef RAYDEX_RAYDEX_H
#define RAYDEX_RAYDEX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a call ended: one of these. */
typedef int32_t raydex_status;
enum {
  RAYDEX_OK = 0,               /**< as it should */
  RAYDEX_ERROR = 1,            /**< an error of no other kind */
  RAYDEX_INVALID_ARGUMENT = 2, /**< an argument is not legal; the text names it */
  RAYDEX_UNSUPPORTED = 3,      /**< this structure cannot do that; the text names one that can */
  RAYDEX_UNAVAILABLE = 4,      /**< this backend is not on this machine */
  RAYDEX_OUT_OF_MEMORY = 5,    /**< memory could not be had */
  RAYDEX_CUDA_ERROR = 6,       /**< the CUDA runtime reported an error */
  RAYDEX_OPTIX_ERROR = 7       /**< the driver's OptiX reported an error */
};

/** What a cell holds: one of these. */
typedef int32_t raydex_type;
enum {
  RAYDEX_UINT32 = 0,      /**< unsigned integers of 32 bits */
  RAYDEX_UINT64 = 1,      /**< of 64 bits */
  RAYDEX_INT32 = 2,       /**< signed integers of 32 bits */
  RAYDEX_INT64 = 3,       /**< of 64 bits */
  RAYDEX_FLOAT = 4,       /**< floating numbers of 32 bits */
  RAYDEX_DOUBLE = 5,      /**< of 64 bits */
  RAYDEX_BYTES = 6,       /**< strings of `width` bytes each, 1 to 8 */
  RAYDEX_STRING = 7,      /**< of any length, with offsets of 32 bits; keys of joins alone */
  RAYDEX_LARGE_STRING = 8 /**< the same with offsets of 64 bits */
};

/** A column, as Arrow lays it out. Set all to 0 first: { 0 }. It does not own its cells. */
typedef struct raydex_column {
  raydex_type type;    /**< what a cell holds */
  uint32_t width;      /**< bytes of a cell of RAYDEX_BYTES; of others 0 */
  const void* data;    /**< the first cell, aligned to its width; of strings their bytes */
  const void* offsets; /**< of strings `length + 1` numbers, which say where each begins */
  uint64_t length;     /**< how many cells */
  uint64_t stride;     /**< bytes from one cell to the next; 0: they are adjacent */
  const uint8_t* validity;  /**< bit b % 8 of byte b / 8 is 0 where a cell is missing; or null */
  uint64_t validity_offset; /**< the bit b of the first cell: Arrow's `offset` */
} raydex_column;

/** No row: beside a probe without a match, and where nothing was found. */
#define RAYDEX_NO_ROW UINT64_MAX

/** Which rows a join gives: one of these. */
typedef int32_t raydex_join_kind;
enum {
  RAYDEX_INNER = 0, /**< each pair of a probe row and a build row of equal keys */
  RAYDEX_LEFT = 1,  /**< the same, and probe rows without a match, beside RAYDEX_NO_ROW */
  RAYDEX_SEMI = 2,  /**< probe rows with a match, once each; no build rows */
  RAYDEX_ANTI = 3,  /**< probe rows without one; no build rows */
  RAYDEX_RIGHT = 4, /**< inner, then build rows without a match, beside RAYDEX_NO_ROW */
  RAYDEX_FULL = 5   /**< left, then the same */
};

/** The rows of a join: two arrays of the backend's memory. */
typedef struct raydex_pairs {
  uint64_t length;      /**< how many */
  uint64_t* probe_rows; /**< their probe rows */
  uint64_t* build_rows; /**< their build rows; null for semi and anti joins */
} raydex_pairs;

/** A backend made ready for use. */
typedef struct raydex_session raydex_session;
/** An index over a column. It may outlive its session. */
typedef struct raydex_index raydex_index;

/** The version of the library, such as "1.2.3". */
const char* raydex_version(void);
/** What was wrong with the last call of this thread that failed; "" if none has. Stays as it is
 * until the next one fails. */
const char* raydex_last_error(void);

/** Opens a backend on the current device: "cpu", "cuda" or "optix"; "auto" or null is a GPU where
 * one is usable, else the CPU. */
raydex_status raydex_open(const char* backend, raydex_session** session);
/** Closes it, and frees what raydex_allocate() and raydex_join() gave for it and was not freed.
 * Null is legal. */
void raydex_close(raydex_session* session);
/** The name of its backend; "" for null. */
const char* raydex_backend(const raydex_session* session);

/** Gives `bytes` bytes of the backend's memory, uninitialised, aligned to 256; of 0 bytes null. */
raydex_status raydex_allocate(raydex_session* session, uint64_t bytes, void** memory);
/** Frees them, when what is queued so far is done. Null is legal; what the session did not give is
 * left alone. */
void raydex_free(raydex_session* session, void* memory);
/** Copies bytes from the host's memory to the backend's, and waits. */
raydex_status raydex_copy_in(raydex_session* session, void* to, const void* from, uint64_t bytes);
/** Copies bytes from the backend's memory to the host's, and waits. */
raydex_status raydex_copy_out(raydex_session* session, void* to, const void* from, uint64_t bytes);
/** Waits for all that is queued. */
raydex_status raydex_synchronize(raydex_session* session);

/** Builds an index over `keys`, which need not outlive the call on "cpu", and on a GPU the work
 * that is queued. `structure`: a name that `raydex structures` lists, such as "pivot_tree"; "auto"
 * or null lets raydex choose. `options`: as "name=value", separated by spaces; null or "" for none.
 */
raydex_status raydex_build(raydex_session* session, const char* structure, const char* options,
                           const raydex_column* keys, raydex_index** index);
/** Frees an index. Null is legal. */
void raydex_free_index(raydex_index* index);

/** @name Lookups
 * Probes are points if `upper` is null, else ranges from `lower` to `upper`, both included. They
 * have the type of the keys. `room` is how many numbers `out` has room for: one a probe, but for
 * the two last ones.
 * @{ */

/** Writes the smallest matching row of each probe, or RAYDEX_NO_ROW. */
raydex_status raydex_first(const raydex_index* index, const raydex_column* lower,
                           const raydex_column* upper, uint64_t* out, uint64_t room);
/** Writes how many rows each probe matches. */
raydex_status raydex_count(const raydex_index* index, const raydex_column* lower,
                           const raydex_column* upper, uint64_t* out, uint64_t room);
/** Writes whether each probe matches any row: 1 or 0. */
raydex_status raydex_contains(const raydex_index* index, const raydex_column* lower,
                              const raydex_column* upper, uint8_t* out, uint64_t room);
/** Writes where the rows of each probe begin in what raydex_rows() writes, and where the last ones
 * end: `room` is one more than there are probes. `total`, in host memory, becomes how many rows
 * there are, for which the call waits; null if it is not to. */
raydex_status raydex_offsets(const raydex_index* index, const raydex_column* lower,
                             const raydex_column* upper, uint64_t* out, uint64_t room,
                             uint64_t* total);
/** Writes all matching rows of each probe, those of probe i from `out[offsets[i]]` on. `offsets`:
 * what raydex_offsets() wrote for these probes, one more than probes. `room` is at least their
 * total, which only "cpu" checks. */
raydex_status raydex_rows(const raydex_index* index, const raydex_column* lower,
                          const raydex_column* upper, const uint64_t* offsets, uint64_t* out,
                          uint64_t room);
/** @} */

/** Joins two tables by equal keys of `columns` columns each, of the same types on both sides.
 * Waits, since the number of rows is to be known. The rows are in the order of the probe rows; they
 * are freed by raydex_free_pairs(). */
raydex_status raydex_join(raydex_session* session, const raydex_column* build,
                          const raydex_column* probe, size_t columns, raydex_join_kind kind,
                          raydex_pairs* pairs);
/** Frees both arrays, and makes them null. */
void raydex_free_pairs(raydex_session* session, raydex_pairs* pairs);

#ifdef __cplusplus
}
#endif

#endif
