// SPDX-License-Identifier: Apache-2.0
// A stream that breaks off.
#pragma once

#include <sstream>
#include <string>
#include <utility>

namespace raydex::test {

// Holds a text; every read behind its end throws an `Error`.
template <class Error>
class failing_buffer : public std::stringbuf {
 public:
  failing_buffer(const std::string& text, Error error)
      : std::stringbuf(text, std::ios::in), error_(std::move(error)) {}

 private:
  int_type underflow() override {
    const int_type next = std::stringbuf::underflow();
    if (next == traits_type::eof()) throw error_;
    return next;
  }
  std::streamsize xsgetn(char* to, std::streamsize count) override {
    const std::streamsize read = std::stringbuf::xsgetn(to, count);
    if (read < count) throw error_;
    return read;
  }

  Error error_;
};

}  // namespace raydex::test
