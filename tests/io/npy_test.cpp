// SPDX-License-Identifier: Apache-2.0
// .npy files: written arrays are read back; damaged files are refused in one line.
#include "io/npy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "io/dtype.hpp"
#include "io/npy_header.hpp"
#include "tests/io/expect_error.hpp"
#include "tests/io/failing_stream.hpp"
#include "tests/support/random.hpp"
#include "tests/support/temporary_folder.hpp"

namespace raydex::io {
namespace {

using test::expect_error;

std::vector<key_format> all_formats() {
  std::vector<key_format> formats;
  for (const char* name :
       {"u4", "u8", "i4", "i8", "f4", "f8", "S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8"})
    formats.push_back(parse_type(name).value());
  return formats;
}

npy_array read_text(const std::string& text) {
  std::istringstream stream(text);
  return read_npy(stream, text.size(), "K.npy");
}

// A file of version 1.0 with this dictionary.
std::string with_dictionary(const std::string& dictionary, const std::string& cells = {}) {
  std::string file(npy_magic);
  file += {1, 0};
  file += static_cast<char>(dictionary.size() & 0xff);
  file += static_cast<char>(dictionary.size() >> 8);
  return file + dictionary + cells;
}

std::string in_quotes(const char* text) {
  std::string result = "'";
  return result.append(text).append(1, '\'');
}

std::string with(const std::string& descr, const std::string& order, const std::string& shape,
                 const std::string& cells = {}) {
  return with_dictionary(
      "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n",
      cells);
}

TEST(Npy, FailuresToReadAndShortageOfMemory) {
  const std::string text = with("'<u4'", "False", "(2,)", "abcdefgh");
  const auto read_failing = [&](std::size_t before, auto error) {
    test::failing_buffer buffer(text.substr(0, before), error);
    std::istream stream(&buffer);
    read_npy(stream, text.size(), "K.npy");
  };
  for (const std::size_t before : {std::size_t{0}, std::size_t{20}, text.size() - 1}) {
    expect_error([&] { read_failing(before, std::ios_base::failure("broken")); },
                 "K.npy: cannot be read to its end");
    EXPECT_THROW(read_failing(before, std::bad_alloc()), std::bad_alloc);
  }
}

TEST(Npy, RoundTripOfEveryFormat) {
  const test::temporary_folder folder;
  auto random = test::generator();
  for (const key_format format : all_formats()) {
    for (const std::size_t size : std::array<std::size_t, 4>{0, 1, 7, 1000}) {
      std::vector<std::byte> cells(size * format.width);
      for (std::byte& byte : cells)
        byte = static_cast<std::byte>(test::below(random, 256));
      const std::string path = folder.path("K.npy");
      output_file file(path);
      write_npy(file, format, cells);
      file.commit();
      const npy_array array = read_npy(path);
      EXPECT_EQ(array.dtype, format);
      EXPECT_EQ(array.shape, std::vector<std::uint64_t>{size});
      EXPECT_TRUE(std::equal(cells.begin(), cells.end(), array.cells.get()));
    }
  }
}

TEST(Npy, CellsBeginAtAMultipleOf64) {
  for (std::uint64_t size = 1; size < std::uint64_t{1} << 60; size *= 10) {
    const std::array shape{size};
    EXPECT_EQ(npy_preamble(format_of<float>, shape).size() % 64, 0U);
  }
}

TEST(Npy, VersionsAndNotations) {
  const std::string dictionary = "{\"shape\":(2,),'descr':'<u4','fortran_order':False}";
  const std::string cells = "abcdefgh";
  EXPECT_EQ(read_text(with_dictionary(dictionary, cells)).shape, std::vector<std::uint64_t>{2});
  for (const char version : {'\2', '\3'}) {
    std::string file(npy_magic);
    file += {version, 0, static_cast<char>(dictionary.size()), 0, 0, 0};
    EXPECT_EQ(read_text(file + dictionary + cells).shape, std::vector<std::uint64_t>{2});
  }
  EXPECT_EQ(read_text(with("'|S2'", "False", "(2, 2)", cells)).shape,
            (std::vector<std::uint64_t>{2, 2}));
  // One dimension is the same in both orders.
  EXPECT_EQ(read_text(with("'<u4'", "True", "(2,)", cells)).shape, std::vector<std::uint64_t>{2});
}

TEST(Npy, IllegalDtypes) {
  for (const char* dtype : {"<f2", "|u1", "|b1", "<U3", "|S9", "|S0", "|S", "<c8", "<M8[ns]", "|O",
                            "<S4", "|u4", "", "u4", "=u4"}) {
    expect_error([&] { read_text(with(in_quotes(dtype), "False", "(0,)")); }, "K.npy: its dtype ",
                 dtype, "are read", legal_types);
  }
  expect_error([] { read_text(with("[('a', '<u4')]", "False", "(0,)")); }, "structure",
               "a['field']");
}

TEST(Npy, RemediesForDtypes) {
  const std::vector<std::pair<const char*, const char*>> remedies{
      {">i8", "a.astype('<i8')"},     {">f4", "a.astype('<f4')"},
      {"|b1", "a.astype('uint32')"},  {"<i2", "a.astype('i4')"},
      {"|u1", "a.astype('u4')"},      {"<f2", "a.astype('f4')"},
      {"<M8[ns]", "a.view('int64')"}, {"<m8[s]", "a.view('int64')"},
      {"<U3", "numpy.char.encode(a)"}};
  for (const auto& [dtype, remedy] : remedies) {
    expect_error([&, name = dtype] { read_text(with(in_quotes(name), "False", "(0,)")); },
                 "; in NumPy: ", remedy);
  }
  EXPECT_EQ(remedy_for("|O"), "");
  EXPECT_EQ(remedy_for("<c8"), "");
  // What would change values.
  EXPECT_EQ(remedy_for("<f16"), "");
  EXPECT_EQ(remedy_for("|S9"), "");
}

// What a file says of itself may hold anything.
TEST(Npy, HostileHeaders) {
  const std::string long_name(50'000, 'x');
  for (const std::string& text : {"'\x1b[31m" + long_name + "'", "'" + long_name + "'"}) {
    try {
      read_text(with(text, "False", "(0,)"));
      ADD_FAILURE();
    } catch (const invalid_argument& error) {
      const std::string_view message = error.what();
      EXPECT_LT(message.size(), 400U);
      EXPECT_EQ(message.find('\x1b'), message.npos);
    }
  }
  std::string shape = "(";
  for (int i = 0; i < 2000; ++i)
    shape += "18446744073709551615, ";
  expect_error([&] { read_text(with("'<u4'", "False", shape + ")")); }, "...", "2^64");
}

TEST(Types, AreNamedInThreeWays) {
  const std::vector<std::pair<key_format, std::vector<const char*>>> names{
      {format_of<std::uint32_t>, {"uint32", "u4", "<u4"}},
      {format_of<std::uint64_t>, {"uint64", "u8", "<u8"}},
      {format_of<std::int32_t>, {"int32", "i4", "<i4"}},
      {format_of<std::int64_t>, {"int64", "i8", "<i8"}},
      {format_of<float>, {"float", "float32", "f4", "<f4"}},
      {format_of<double>, {"double", "float64", "f8", "<f8"}},
      {key_format::bytes(5), {"bytes5", "S5", "|S5"}}};
  for (const auto& [format, all] : names) {
    for (const char* name : all)
      EXPECT_EQ(parse_type(name), format) << name;
  }
  for (const char* name : {"", "int", "u2", "<S5", ">i8", "|i8", "bytes0", "bytes9", "S9", "I8"})
    EXPECT_EQ(parse_type(name), std::nullopt) << name;
}

TEST(Npy, FortranOrder) {
  expect_error([] { read_text(with("'<u4'", "True", "(1, 2)", "abcdefgh")); }, "Fortran order");
}

TEST(Npy, Sizes) {
  const std::string whole = with("'<u4'", "False", "(2,)", "abcdefgh");
  expect_error([&] { read_text(whole + "x"); }, "1 bytes follow the 8 bytes");
  for (std::size_t size = 0; size < whole.size(); ++size)
    expect_error([&] { read_text(whole.substr(0, size)); }, "K.npy: ");
  expect_error([&] { read_text(whole.substr(0, whole.size() - 3)); }, "truncated",
               "8 bytes of cells expected, 5 found");
  expect_error([] { read_text("a,b\n1,2\n"); }, "not an .npy file");
  expect_error([] { read_text(""); }, "not an .npy file");
}

TEST(Npy, HugeShapesAllocateNothing) {
  expect_error([] { read_text(with("'<u8'", "False", "(2305843009213693951,)")); }, "truncated");
  expect_error([] { read_text(with("'<u8'", "False", "(2305843009213693952,)")); }, "2^64");
  expect_error([] { read_text(with("'<u8'", "False", "(4294967296, 4294967296)")); }, "2^64");
  expect_error([] { read_text(with("'<u8'", "False", "(18446744073709551616,)")); }, "damaged");
  EXPECT_EQ(read_text(with("'<u8'", "False", "(4294967296, 4294967296, 0)")).shape.size(), 3U);
}

TEST(Npy, HeaderNonsense) {
  for (const char* dictionary :
       {"", "{", "}", "{}", "[]", "{'descr'}", "{'descr': }", "{'descr': '<u4'}",
        "{'descr': '<u4', 'fortran_order': False}", "{'descr': '<u4', 'shape: (1,)}",
        "{'descr': '<u4' 'fortran_order': False, 'shape': (0,)}",
        "{'descr': '<u4', 'fortran_order': Maybe, 'shape': (0,)}",
        "{'descr': '<u4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<u4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<u4', 'fortran_order': False, 'shape': (1,}",
        "{'descr': '<u4', 'fortran_order': False, 'shape': 1}",
        "{'descr': '<u4', 'fortran_order': False, 'shape': (0,), 'color': 'red'}",
        "{'descr': '<u4', 'fortran_order': False, 'shape': (0,)} x"}) {
    expect_error([&] { read_text(with_dictionary(dictionary)); }, "K.npy: its .npy header");
  }
  std::string version = with("'<u4'", "False", "(0,)");
  version[6] = 9;
  expect_error([&] { read_text(version); }, "version 9.0");
}

TEST(Npy, FilesThatCannotBeRead) {
  const test::temporary_folder folder;
  expect_error([&] { read_npy(folder.path("none.npy")); }, "none.npy: cannot be read",
               "No such file");
  expect_error([&] { read_npy(folder.path("")); }, "not a regular file");
}

}  // namespace
}  // namespace raydex::io
