// SPDX-License-Identifier: Apache-2.0
// The header of an .npy file: just as much of Python's syntax as NumPy writes.
#include "io/npy_header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "io/dtype.hpp"
#include "io/quoted.hpp"
#include "raydex/error.hpp"

namespace raydex::io {

namespace {

class header_parser {
 public:
  header_parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  npy_header parse() {
    npy_header header;
    bool has_dtype = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = text_in_quotes();
      expect(':');
      if (key == "descr") {
        header.dtype = dtype();
        has_dtype = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        has_shape = true;
      } else {
        fail("an entry of another name");
      }
      if (!accept(',') && peek() != '}') fail("no comma between entries");
    }
    if (peek() != nothing) fail("text after the dictionary");
    if (!has_dtype || !has_order || !has_shape) fail("descr, fortran_order or shape is missing");
    return header;
  }

 private:
  static constexpr char nothing = '\0';

  [[noreturn]] void fail(std::string_view problem) const {
    throw invalid_argument(
        fmt::format("{}: its .npy header is damaged at byte {}: {}", name_, at_, problem));
  }

  // The next character that is not a space.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
      ++at_;
    return at_ < text_.size() ? text_[at_] : nothing;
  }

  bool accept(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail(fmt::format("no '{}'", wanted));
  }

  std::string_view text_in_quotes() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("no quoted text");
    const std::size_t begin = ++at_;
    const std::size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) fail("a quote that does not end");
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  key_format dtype() {
    if (peek() == '[') {
      throw invalid_argument(fmt::format(
          "{}: its dtype is a structure; save one field: numpy.save(file, a['field'])", name_));
    }
    const std::string_view descr = text_in_quotes();
    if (const auto format = parse_dtype(descr)) return *format;
    const std::string remedy = remedy_for(descr);
    throw invalid_argument(
        fmt::format("{}: its dtype is {}; {} are read{}", name_, in_quotes(descr), legal_types,
                    remedy.empty() ? remedy : fmt::format("; in NumPy: {}", remedy)));
  }

  bool boolean() {
    peek();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    }
    fail("neither True nor False");
  }

  std::uint64_t integer() {
    peek();
    std::uint64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("no length of 64 bits");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> values;
    expect('(');
    while (!accept(')')) {
      values.push_back(integer());
      if (!accept(',') && peek() != ')') fail("no comma between lengths");
    }
    return values;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

}  // namespace

npy_header parse_npy_header(std::string_view dictionary, const std::string& name) {
  return header_parser(dictionary, name).parse();
}

std::string to_string(std::span<const std::uint64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::string npy_preamble(key_format dtype, std::span<const std::uint64_t> shape) {
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                       dtype_name(dtype), to_string(shape));
  constexpr std::size_t before = 10;  // magic, version 1.0 and a length of 16 bits
  constexpr std::size_t alignment = 64;
  while ((before + dictionary.size() + 1) % alignment != 0)
    dictionary.push_back(' ');
  dictionary.push_back('\n');
  std::string preamble(npy_magic);
  preamble += {1, 0};
  preamble += static_cast<char>(dictionary.size() & 0xff);
  preamble += static_cast<char>(dictionary.size() >> 8);
  return preamble + dictionary;
}

}  // namespace raydex::io
