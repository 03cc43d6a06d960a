// SPDX-License-Identifier: Apache-2.0
// Files of indexes, written by a program that a signal may end.
#include "io/index_saving.hpp"

#include "io/program.hpp"
#include "raydex/index_file.hpp"
#include "raydex/interruptible.hpp"

namespace raydex::io {

namespace {

template <class Kept>
void save_until_ended(const session& on, const Kept& of, const std::string& path,
                      const std::string& note) {
  const delayed_end until_saved;
  // The library removes its own file when it is stopped.
  const interruptible work([](const progress&) { return delayed_end::is_wanted(); });
  save(on, of, path, note);
}

}  // namespace

void save_index(const session& on, const index& of, const std::string& path,
                const std::string& note) {
  save_until_ended(on, of, path, note);
}
void save_index(const session& on, const rmq& of, const std::string& path,
                const std::string& note) {
  save_until_ended(on, of, path, note);
}

}  // namespace raydex::io
