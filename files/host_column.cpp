// SPDX-License-Identifier: Apache-2.0
// Columns in host memory that own their cells.
#include "files/host_column.hpp"

namespace raydex::io {

column host_column::view() const {
  column cells_view(format, cells.get(), size, validity.empty() ? nullptr : validity.data());
  cells_view.stride = stride;
  return cells_view;
}

}  // namespace raydex::io
