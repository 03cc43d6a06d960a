// SPDX-License-Identifier: Apache-2.0
// CSV columns: types found and given, missing values, and bad files, refused in one line.
#include "io/csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <random>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "io/dtype.hpp"
#include "tests/io/expect_error.hpp"
#include "tests/io/failing_stream.hpp"
#include "tests/support/random.hpp"
#include "tests/support/temporary_folder.hpp"

namespace raydex::io {
namespace {

using test::expect_error;

// The column `a` of a file of this text.
host_column read(const std::string& text, const char* type = "", const char* column = "a") {
  std::istringstream stream(text);
  return std::get<host_column>(
      read_csv(stream, "t.csv", std::array{csv_column{column, parse_type(type)}}).front());
}

// The same where texts are kept in this way.
host_key_part read_as(csv_texts texts, const std::string& text) {
  std::istringstream stream(text);
  return std::move(
      read_csv(stream, "t.csv", std::array{csv_column{"a", std::nullopt, texts}}).front());
}

template <class T>
std::vector<T> cells(const host_column& column) {
  EXPECT_EQ(column.format, format_of<T>);
  std::vector<T> values(column.size);
  if (column.format == format_of<T> && column.size != 0)
    std::memcpy(values.data(), column.cells.get(), column.size * sizeof(T));
  return values;
}

std::vector<std::string> texts(const host_column& column) {
  EXPECT_EQ(column.format.type, key_type::bytes);
  std::vector<std::string> values;
  for (std::uint64_t i = 0; i < column.size; ++i)
    values.emplace_back(reinterpret_cast<const char*>(column.cells.get()) + i * column.format.width,
                        column.format.width);
  return values;
}

std::vector<std::string> strings_of(const host_key_part& part) {
  std::vector<std::string> values;
  const auto* const column = std::get_if<host_strings>(&part);
  EXPECT_NE(column, nullptr);
  for (std::uint64_t i = 0; column != nullptr && i < column->size; ++i)
    values.emplace_back(column->at(i));
  return values;
}

// One character per row: 1 for present, 0 for missing.
template <class Column>
std::string validity(const Column& column) {
  std::string bits;
  for (std::uint64_t i = 0; i < column.size && !column.validity.empty(); ++i)
    bits += static_cast<char>('0' + (column.validity[i / 8] >> i % 8 & 1));
  return bits;
}

using ints = std::vector<std::int64_t>;
using doubles = std::vector<double>;
using strings = std::vector<std::string>;

// The nanoseconds of times that a column `a` has.
std::vector<std::int64_t> times(const std::string& texts, time_kind kind = time_kind::local) {
  const host_key_part part = read_as(csv_texts::times, "a,b\n" + texts);
  EXPECT_EQ(std::get<host_column>(part).times, kind);
  return cells<std::int64_t>(std::get<host_column>(part));
}

TEST(Csv, Times) {
  constexpr std::int64_t second = 1'000'000'000;
  // Seconds by `date -u -d TIME +%s`.
  EXPECT_EQ(times("1970-01-01,\n2024-02-29T12:30,\n2024-02-29 12:30:05.000000001,\n,\n"
                  "1969-12-31 23:59:59.9,\n"),
            (std::vector{0 * second, 1709209800 * second, 1709209805 * second + 1, 0 * second,
                         -second / 10}));
  EXPECT_EQ(times("2024-02-29T12:30:05Z,\n2024-02-29 12:30:05+01:00,\n2024-02-29 12:30:05-0130,\n",
                  time_kind::zoned),
            (std::vector{1709209805 * second, 1709206205 * second, 1709215205 * second}));
  EXPECT_EQ(times("2262-04-11T23:47:16.854775807,\n1677-09-21T00:12:44,\n"),
            (std::vector{std::numeric_limits<std::int64_t>::max(), -9223372036 * second}));
  // Texts that are none stay what they were, and numbers too.
  EXPECT_EQ(texts(std::get<host_column>(read_as(csv_texts::times, "a,b\nx,\nab,\n"))),
            (std::vector{std::string("x\0", 2), std::string("ab")}));
  EXPECT_EQ(cells<std::int64_t>(std::get<host_column>(read_as(csv_texts::times, "a,b\n7,\n"))),
            std::vector<std::int64_t>{7});
}

// The same of keys that must be equal, where what is not all times of one kind may be strings.
TEST(Csv, TimesAmongStrings) {
  const auto read_key = [](const std::string& texts) {
    return read_as(csv_texts::any_length, "a,b\n" + texts);
  };
  const host_key_part part = read_key("2024-02-29T12:30,\n,\n1970-01-01,\n");
  const auto& found = std::get<host_column>(part);
  EXPECT_EQ(found.times, time_kind::local);
  EXPECT_EQ(cells<std::int64_t>(found), (std::vector<std::int64_t>{1709209800000000000, 0, 0}));
  EXPECT_EQ(found.validity.front() & 7, 5);
  for (const std::string other : {"2024-02-29T12:30Z", "1600-01-01", "later", "2024-02-30"}) {
    for (const std::string& texts : {"2024-02-29,\n" + other + ",\n", other + ",\n2024-02-29,\n"})
      EXPECT_EQ(std::get<host_strings>(read_key(texts)).size, 2U) << other;
  }
  EXPECT_EQ(strings_of(read_as(csv_texts::strings, "a\n2024-02-29\n")), strings{"2024-02-29"});
}

TEST(Csv, TextsThatEndInNul) {
  const std::string file("a,b\nx\0,y\nx,y\n", 13);
  const host_key_part part = read_as(csv_texts::any_length, file);
  EXPECT_EQ(std::get<host_strings>(part).at(0), std::string_view("x\0", 2));
  EXPECT_EQ(std::get<host_strings>(part).at(1), "x");
  expect_error([&] { read(file); }, "line 2: ", "ends in a NUL byte");
}

TEST(Csv, TimesThatAreNone) {
  for (const char* text :
       {"2024-02-30", "2023-02-29", "2024-13-01", "2024-1-01", "2024-01-01T24:00", "2024-01-01T12",
        "2024-01-01T12:00:60", "2024-01-01T12:00:00.", "2024-01-01T12:00:00.1234567890",
        "2024-01-01T12:00+1", "2024-01-01T12:00z", "2024-01-01x", "02024-01-01", "2024-01-01 "}) {
    expect_error([&] { times("\"" + std::string(text) + "\",\n"); }, "more than 8");
  }
  expect_error([] { times("2024-01-01,\nlater,\n"); },
               "line 3: 'later' in column a is not a time, '2024-01-01' in line 2 is one");
  expect_error([] { times("later,\n2024-01-01,\n"); }, "'later' in column a is not a time");
  expect_error([] { times("2024-01-01T00:00Z,\n2024-01-01,\n"); },
               "line 3: '2024-01-01' in column a has no zone");
  expect_error([] { times("2024-01-01,\n5,\n"); }, "is not a number");
  expect_error([] { times("1600-01-01,\n"); }, "out of the range of nanoseconds, 1678 to 2261");
  expect_error([] { times("2262-04-11T23:47:16.854775808,\n"); }, "out of the range");
}

TEST(Csv, TypesAreFound) {
  EXPECT_EQ(cells<std::int64_t>(read("a\n1\n-2\n+3\n")), (ints{1, -2, 3}));
  EXPECT_EQ(cells<double>(read("a\n1\n2.5\n-3e2\n")), (doubles{1, 2.5, -300}));
  EXPECT_EQ(texts(read("a\nN1\nN234\n")), (strings{{'N', '1', 0, 0}, "N234"}));
  EXPECT_EQ(
      cells<std::int64_t>(read("a\n9223372036854775807\n-9223372036854775808\n")),
      (ints{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}));
  EXPECT_EQ(cells<double>(read("a\n18446744073709551616\n0.5\n1\n")), (doubles{0x1p64, 0.5, 1}));
  EXPECT_EQ(cells<double>(read("a\ninf\n-inf\n")), (doubles{INFINITY, -INFINITY}));
}

TEST(Csv, NanIsANumber) {
  for (const char* nan : {"NaN", "nan"}) {
    const doubles values = cells<double>(read(std::string("a\n1\n") + nan + "\n"));
    ASSERT_EQ(values.size(), 2U);
    EXPECT_EQ(values[0], 1);
    EXPECT_TRUE(std::isnan(values[1]));
  }
}

TEST(Csv, TypesAreGiven) {
  EXPECT_EQ(cells<std::uint32_t>(read("a\n4294967295\n", "u4")),
            std::vector<std::uint32_t>{4294967295U});
  EXPECT_EQ(cells<std::uint64_t>(read("a\n18446744073709551615\n", "u8")),
            std::vector<std::uint64_t>{18446744073709551615U});
  EXPECT_EQ(cells<std::int32_t>(read("a\n-5\n7\n", "i4")), (std::vector<std::int32_t>{-5, 7}));
  EXPECT_EQ(cells<std::int64_t>(read("a\n-5\n", "i8")), ints{-5});
  EXPECT_EQ(cells<float>(read("a\n0.1\n2\n", "f4")), (std::vector<float>{0.1F, 2}));
  EXPECT_EQ(cells<double>(read("a\n0.1\n2\n", "f8")), (doubles{0.1, 2}));
  EXPECT_EQ(texts(read("a\n12\nxyz\n", "S3")), (strings{{'1', '2', 0}, "xyz"}));
  EXPECT_EQ(texts(read("a\n12345678\n", "S8")), strings{"12345678"});
}

TEST(Csv, MissingValues) {
  const host_column column =
      read("a,b\n1,x\n,x\nNA,x\nN/A,x\n\"\",x\nnull,x\nNULL,x\n  ,x\n\"NA\",x\n2,x\n");
  EXPECT_EQ(validity(column), "1000000001");
  EXPECT_EQ(cells<std::int64_t>(column).back(), 2);
  EXPECT_EQ(validity(read("a\n1\n2\n")), "");
  std::string text = "a,b\n";
  for (int i = 0; i < 40; ++i)
    text += i == 17 ? ",\n" : "1,\n";
  EXPECT_EQ(validity(read(text)), std::string(17, '1') + "0" + std::string(22, '1'));
  EXPECT_EQ(validity(read("a,b\n,x\n,x\n", "S2")), "00");
}

TEST(Csv, NoRowsAndNoPresentFields) {
  EXPECT_EQ(cells<std::int64_t>(read("a\n")), ints{});
  EXPECT_EQ(cells<std::int64_t>(read("a")), ints{});
  EXPECT_EQ(cells<float>(read("a\n", "f4")), std::vector<float>{});
  EXPECT_EQ(read("a\nNA\n").size, 1U);
}

TEST(Csv, Dialects) {
  EXPECT_EQ(cells<std::int64_t>(read("\xef\xbb\xbf"
                                     "a,b\r\n1,2\r\n3,4\r\n")),
            (ints{1, 3}));
  EXPECT_EQ(cells<std::int64_t>(read("b,a\n1,2\n3,4", "", "a")), (ints{2, 4}));
  EXPECT_EQ(cells<std::int64_t>(read("a,b\n1,2\n\n\n\r\n2,3\n\n")), (ints{1, 2}));
  EXPECT_EQ(texts(read("a,b\n\"x,\"\"y\n\",2\n")), strings{"x,\"y\n"});
  EXPECT_EQ(cells<std::int64_t>(read("\"a b\", c\n 1 ,2\n", "", "a b")), ints{1});
  EXPECT_EQ(cells<std::int64_t>(read("\"a b\", c\n 1 ,2\n", "", "c")), ints{2});
}

TEST(Csv, SeveralColumnsInOnePass) {
  std::istringstream stream("a,b,c\n1,x,1.5\n2,y,2.5\n");
  const std::array<csv_column, 3> wanted{
      {{"c", std::nullopt}, {"a", std::nullopt}, {"a", format_of<float>}}};
  const std::vector<host_key_part> columns = read_csv(stream, "t.csv", wanted);
  ASSERT_EQ(columns.size(), 3U);
  EXPECT_EQ(cells<double>(std::get<host_column>(columns[0])), (doubles{1.5, 2.5}));
  EXPECT_EQ(cells<std::int64_t>(std::get<host_column>(columns[1])), (ints{1, 2}));
  EXPECT_EQ(cells<float>(std::get<host_column>(columns[2])), (std::vector<float>{1, 2}));
}

TEST(Csv, TextsOfAnyLength) {
  const std::string table = "a,b\nlong enough,1\n,2\nNA,3\nx,4\n\"with, \"\"comma\",5\n";
  for (const csv_texts texts : {csv_texts::any_length, csv_texts::strings}) {
    const host_key_part part = read_as(texts, table);
    EXPECT_EQ(strings_of(part), (strings{"long enough", "", "", "x", "with, \"comma"}));
    EXPECT_EQ(validity(std::get<host_strings>(part)), "10011");
    const string_column view = std::get<host_strings>(part).view();
    EXPECT_EQ(view.size, 5U);
    EXPECT_TRUE(view.wide_offsets);
  }
  const host_key_part verbatim = read_as(csv_texts::verbatim, table);
  EXPECT_EQ(strings_of(verbatim), (strings{"long enough", "", "NA", "x", "with, \"comma"}));
  EXPECT_EQ(validity(std::get<host_strings>(verbatim)), "");
}

TEST(Csv, TextsThatTurnOutToBeShort) {
  const host_key_part part = read_as(csv_texts::any_length, "a,b\nN1,x\n,x\nN234,x\n");
  const auto& column = std::get<host_column>(part);
  EXPECT_EQ(texts(column), (strings{{'N', '1', 0, 0}, {0, 0, 0, 0}, "N234"}));
  EXPECT_EQ(validity(column), "101");
  EXPECT_EQ(cells<std::int64_t>(std::get<host_column>(read_as(csv_texts::any_length, "a\n1\n"))),
            ints{1});
  EXPECT_EQ(strings_of(read_as(csv_texts::strings, "a\n12\n0.5\n")), (strings{"12", "0.5"}));
  EXPECT_EQ(strings_of(read_as(csv_texts::strings, "a\n")), strings{});
  expect_error([] { read_as(csv_texts::any_length, "a\n1\nlong enough\n"); },
               "'long enough' in column a is not a number", "t.csv:a:string");
}

// As Polars and DuckDB read it.
TEST(Csv, BlankLinesOfOneColumnAreMissing) {
  for (const std::string end : {"\n", "\r\n"}) {
    const std::string text = "a" + end + "1" + end + end + "3" + end + "  " + end + end;
    EXPECT_EQ(validity(read(text)), "10100");
    EXPECT_EQ(cells<std::int64_t>(read(text))[2], 3);
  }
  EXPECT_EQ(validity(read("a\n1\n\n2")), "101");
  EXPECT_EQ(read("\n\na\n1\n").size, 1U) << "blank lines before the names";
}

// As NumPy, Polars and DuckDB read them.
TEST(Csv, FloatsAreRounded) {
  const doubles values = cells<double>(read("a\n1e-400\n-1e-400\n1e400\n-1e400\n4.9e-324\n0.1\n"));
  EXPECT_EQ(values, (doubles{0, 0, INFINITY, -INFINITY, 4.9e-324, 0.1}));
  EXPECT_TRUE(std::signbit(values[1]));
  EXPECT_EQ(cells<float>(read("a\n1e39\n1e-50\n-1e39\n", "f4")),
            (std::vector<float>{INFINITY, 0, -INFINITY}));
  EXPECT_EQ(cells<double>(read("a\n0." + std::string(400, '0') + "1\n")), doubles{0});
  EXPECT_EQ(cells<double>(read("a\n" + std::string(400, '9') + "\n0.5\n")),
            (doubles{INFINITY, 0.5}));
}

// The same of a text in another format.
host_key_part read_text(table_format format, const std::string& text, const char* column,
                        csv_texts texts = csv_texts::any_length) {
  std::istringstream stream(text);
  return std::move(
      read_csv(stream, "t", std::array{csv_column{column, std::nullopt, texts}}, format).front());
}

ints numbers_of(table_format format, const std::string& text, const char* column) {
  return cells<std::int64_t>(std::get<host_column>(read_text(format, text, column)));
}

TEST(Csv, Tabs) {
  const std::string text =
      "\xef\xbb\xbf"
      "a\tb c\td\n1\t\"x\ty\"\t\n\n2\tNA\t \n";
  EXPECT_EQ(numbers_of(table_format::tsv, text, "a"), (ints{1, 2}));
  const host_column texts = std::get<host_column>(read_text(table_format::tsv, text, "b c"));
  EXPECT_EQ(validity(texts), "10");
  EXPECT_EQ(std::memcmp(texts.cells.get(), "x\ty", 3), 0);
  EXPECT_EQ(validity(std::get<host_column>(read_text(table_format::tsv, text, "d"))), "00");
  expect_error([&] { read_text(table_format::tsv, "a,b\n1,2\n", "a"); },
               "t: no column 'a'; there are a,b");
}

TEST(Csv, Bed) {
  const std::string text =
      "browser position chr7\ntrack name=\"pairs of\" useScore=1\n#chrom\tstart\n"
      "chr7\t5\t8\ta \"b\t0\t+\r\n\n# in between\nchr22\t9\t11\t.\t.\t.\n";
  EXPECT_EQ(numbers_of(table_format::bed, text, "start"), (ints{5, 9}));
  EXPECT_EQ(numbers_of(table_format::bed, text, "end"), (ints{8, 11}));
  const host_column score = std::get<host_column>(read_text(table_format::bed, text, "score"));
  EXPECT_EQ(validity(score), "10");
  EXPECT_EQ(score.format, format_of<std::int64_t>);
  EXPECT_EQ(strings_of(read_text(table_format::bed, text, "chrom", csv_texts::strings)),
            (std::vector<std::string>{"chr7", "chr22"}));
  EXPECT_EQ(strings_of(read_text(table_format::bed, text, "name", csv_texts::verbatim)),
            (std::vector<std::string>{"a \"b", "."}));
  expect_error([&] { read_text(table_format::bed, text, "thickStart"); },
               "t: no column 'thickStart'; there are chrom, start, end, name, score, strand");
  expect_error([&] { read_text(table_format::bed, "c\t1\t2\nc\t1\n", "start"); },
               "t: line 2: 2 fields, but there are 3 columns");
  expect_error([&] { read_text(table_format::bed, std::string("c\t1\0\t2\n", 7), "start"); },
               "t: line 1: a NUL byte; the row begins at line 1");
  // One line without an end, further columns, and nothing but comments.
  EXPECT_EQ(numbers_of(table_format::bed,
                       "\xef\xbb\xbf"
                       "c\t1\t2",
                       "start"),
            ints{1});
  const std::string wide = "c\t1\t2\tn\t0\t+\t1\t2\t0\t1\t1\t0\t77\n";
  EXPECT_EQ(numbers_of(table_format::bed, wide, "13"), ints{77});
  EXPECT_EQ(numbers_of(table_format::bed, wide, "blockStarts"), ints{0});
  for (const char* none : {"", "# nothing\n", "track\n\n"})
    EXPECT_EQ(numbers_of(table_format::bed, none, "start"), ints{}) << none;
}

TEST(Csv, Vcf) {
  const std::string text =
      "##fileformat=VCFv4.3\n##INFO=<ID=DP,Description=\"depth\tin all\">\n"
      "#CHROM\tPOS\tID\tQUAL\tINFO\nchr1\t10\trs1\t.\tDP=3;S=\"x\nchr2\t20\t.\t7.5\t.\n";
  EXPECT_EQ(numbers_of(table_format::vcf, text, "POS"), (ints{10, 20}));
  EXPECT_EQ(validity(std::get<host_column>(read_text(table_format::vcf, text, "QUAL"))), "01");
  EXPECT_EQ(strings_of(read_text(table_format::vcf, text, "INFO", csv_texts::verbatim)),
            (std::vector<std::string>{"DP=3;S=\"x", "."}));
  EXPECT_EQ(strings_of(read_text(table_format::vcf, text, "CHROM", csv_texts::strings)),
            (std::vector<std::string>{"chr1", "chr2"}));
  expect_error([&] { read_text(table_format::vcf, "##fileformat=VCFv4.3\nchr1\t1\n", "POS"); },
               "t: line 2: the header of a .vcf is missing, a line that begins with #CHROM");
  expect_error([&] { read_text(table_format::vcf, "##fileformat=VCFv4.3\n", "POS"); },
               "t: it is empty");
}

// The columns a, b and c of a random table, as a format calls them.
std::array<std::string, 3> names_in(table_format format) {
  if (format == table_format::bed) return {"chrom", "start", "end"};
  return {format == table_format::vcf ? "#CHROM" : "a", "b", "c"};
}

// Text of random rows, with quoted line ends, missing fields and blank lines.
std::string random_table(std::mt19937_64& random, const std::vector<std::string>& fields,
                         table_format format) {
  const char separator = format == table_format::csv ? ',' : '\t';
  const std::array<std::string, 3> names = names_in(format);
  std::string text = "##\n";
  if (format != table_format::vcf && format != table_format::bed) text.clear();
  if (format != table_format::bed) text += fmt::format("{}\n", fmt::join(names, {&separator, 1}));
  const std::size_t rows = random() % 60;
  for (std::size_t row = 0; row < rows; ++row) {
    if (random() % 10 == 0) text += format == table_format::bed ? "#\n" : "\n";
    for (int column = 0; column < 3; ++column)
      text += fields[random() % fields.size()] + (column == 2 ? '\n' : separator);
  }
  if (random() % 2 == 0 && rows != 0) text.pop_back();
  return text;
}

// What reading finds: the cells of all columns, or what is wrong.
std::string outcome(const std::array<csv_column, 2>& wanted, const std::string& text,
                    std::size_t part_size, table_format format = table_format::csv) {
  std::istringstream stream(text);
  std::string found;
  try {
    for (const host_key_part& part : read_csv(stream, "t.csv", wanted, format, part_size)) {
      if (const auto* const column = std::get_if<host_column>(&part)) {
        found += to_string(column->format) + ":" + validity(*column) + ":";
        found.append(reinterpret_cast<const char*>(column->cells.get()),
                     column->size * column->format.width);
        continue;
      }
      found += "string:" + validity(std::get<host_strings>(part));
      for (const std::string& string : strings_of(part))
        found += ":" + string;
    }
  } catch (const invalid_argument& error) {
    found = error.what();
  }
  return found;
}

TEST(Csv, PartsDoNotShow) {
  std::mt19937_64 random = test::generator();
  const std::vector<std::string> numbers{"1", "-25", "", "NA", "123456789", "\"7\"", " 8 "};
  std::vector<std::string> floats = numbers;
  floats.insert(floats.end(), {"0.5", "1e3", "nan"});
  const std::vector<std::string> texts{"x", "\"a\nb\"", "\"\"\"\"", "\"q,\r\n\"", "long text"};
  std::vector<std::string> bad = floats;
  bad.insert(bad.end(), {"text", "\"open", "x\"y", "9999999999999999999", "1,2"});
  using enum table_format;
  for (int i = 0; i < 200; ++i) {
    const table_format format = std::array{csv, csv, tsv, bed, vcf}[random() % 5];
    const auto [a, b, c] = names_in(format);
    const std::array<csv_column, 2> with_short{{{b, std::nullopt}, {c, key_format::bytes(8)}}};
    const std::array<csv_column, 2> with_strings{
        {{b, std::nullopt, csv_texts::any_length}, {c, std::nullopt, csv_texts::verbatim}}};
    for (const auto& fields : {numbers, floats, texts, bad}) {
      const std::string text = random_table(random, fields, format);
      for (const auto& wanted : {with_short, with_strings}) {
        const std::string expected = outcome(wanted, text, std::size_t{1} << 20, format);
        for (const std::size_t part_size : {1U, 2U, 7U, 40U})
          ASSERT_EQ(outcome(wanted, text, part_size, format), expected) << part_size << "\n"
                                                                        << text;
      }
    }
  }
}

// It took time that grew with its square.
TEST(Csv, LongFieldsThatNobodyWants) {
  const std::string text = "a,b\n1," + std::string(std::size_t{1} << 26, 'x') + "\n2,y\n";
  EXPECT_EQ(cells<std::int64_t>(read(text)), (ints{1, 2}));
}

TEST(Csv, FailuresToReadAndShortageOfMemory) {
  const auto read_failing = [](auto error) {
    test::failing_buffer buffer("a\n1\n2", error);
    std::istream stream(&buffer);
    read_csv(stream, "t.csv", std::array{csv_column{"a", std::nullopt}});
  };
  expect_error([&] { read_failing(std::ios_base::failure("broken")); },
               "t.csv: cannot be read to its end");
  EXPECT_THROW(read_failing(std::bad_alloc()), std::bad_alloc);
}

TEST(Csv, TextAmongNumbers) {
  expect_error([] { read("a\n1\n2\nfoo\n"); }, "t.csv: line 4: 'foo' in column a is not a number",
               "t.csv:a:bytes8");
  expect_error([] { read("a\nfoo\n2\n"); }, "t.csv: line 2: 'foo' in column a is not a number",
               "'2' in line 3", "t.csv:a:bytes8");
  expect_error([] { read("a\n1.5\n1.5.\n"); }, "line 3: '1.5.'");
  expect_error([] { read("a\n1\n12 3\n"); }, "line 3: '12 3'");
}

TEST(Csv, FieldsThatDoNotFitTheirType) {
  expect_error([] { read("a\n4294967296\n", "u4"); }, "line 2: '4294967296' in column a",
               "out of the range of uint32");
  expect_error([] { read("a\n-1\n", "u4"); }, "'-1'", "not of type uint32");
  expect_error([] { read("a\n1.5\n", "i8"); }, "'1.5'", "not of type int64");
  expect_error([] { read("a\nx\n", "f8"); }, "'x'", "not of type double");
  expect_error([] { read("a\n1\n9223372036854775808\n2\n"); }, "line 3: '9223372036854775808'",
               "out of the range of int64", "t.csv:a:uint64");
  expect_error([] { read("a\nabcdefghi\n"); }, "line 2: 'abcdefghi'",
               "9 bytes, more than 8; keys of raydex query and raydex join take longer texts");
  expect_error([] { read("a\nabcd\n", "S3"); }, "'abcd'", "4 bytes, more than 3");
  expect_error([] { read("a\n" + std::string(1000, 'x') + "\n"); }, "xxx...");
}

TEST(Csv, Columns) {
  expect_error([] { read("x,y,z\n1,2,3\n"); }, "t.csv: no column 'a'; there are x, y, z");
  expect_error([] { read("tailnum,dest\n1,2\n", "", "tail_num"); },
               "no column 'tail_num'; there are tailnum, dest; did you mean 'tailnum'?");
  expect_error([] { read("x\x1b[31m,y\n1,2\n"); }, "there are x\\x1b[31m, y");
  expect_error([] { read("a,b,a\n1,2,3\n"); }, "2 columns are called 'a'");
  expect_error([] { read(""); }, "t.csv: it is empty");
  expect_error([] { read("\n\n"); }, "t.csv: it is empty");
}

TEST(Csv, Rows) {
  expect_error([] { read("a,b\n1,2\n3\n4,5\n"); }, "line 3: 1 fields, but there are 2 columns");
  expect_error([] { read("a,b\n1,2\n3,4,5\n"); }, "line 3: 3 fields, but there are 2 columns");
  expect_error([] { read("a,b\n1,2\n3"); }, "line 3: 1 fields, but there are 2 columns");
  // Line numbers are those of the file, also after blank and quoted lines.
  expect_error([] { read("a,b\n\n2,\"x\ny\"\n\n3\n"); }, "line 6: 1 fields");
}

TEST(Csv, Quotes) {
  expect_error([] { read("a,b\n1,2\n\"3,4\n5,6\n"); }, "a quote that does not end",
               "row begins at line 3");
  expect_error([] { read("a,b\n1,x\"y\n"); }, "line 2: a quote");
  expect_error([] { read("a,b\n1,\"x\"y\n"); }, "line 2: a quote");
}

}  // namespace
}  // namespace raydex::io
