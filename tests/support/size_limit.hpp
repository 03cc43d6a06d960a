// SPDX-License-Identifier: Apache-2.0
// Files that grow no further than so many bytes, as on a full disk.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace raydex::test {

class size_limit {
 public:
  explicit size_limit(rlim_t most) {
    std::signal(SIGXFSZ, SIG_IGN);  // which would end the process
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{most, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  size_limit(const size_limit&) = delete;
  size_limit& operator=(const size_limit&) = delete;
  ~size_limit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace raydex::test
