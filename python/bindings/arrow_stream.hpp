// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "raydex/arrow.hpp"

// As the specification of Arrow has it; these names and layouts never change.
// NOLINTBEGIN(readability-identifier-naming)
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
extern "C" {
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}
#endif
// NOLINTEND(readability-identifier-naming)
