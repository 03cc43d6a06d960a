// SPDX-License-Identifier: Apache-2.0
#include "tests/random/options.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>

#include "tests/support/random.hpp"

namespace raydex::test {

namespace {

using words = std::vector<std::string>;

// Numbers from a to b.
words numbers(unsigned a, unsigned b, words others = {}) {
  for (unsigned i = a; i <= b; ++i)
    others.push_back(std::to_string(i));
  return others;
}

std::vector<drawn_option> with_schedule(std::vector<drawn_option> own) {
  const std::vector<drawn_option> schedule{{"schedule", {"dynamic", "static", "one"}},
                                           {"threads", {"128", "256", "512", "1024"}},
                                           {"lookups", numbers(1, 16)},
                                           {"pin", {"none", "steps", "full"}},
                                           {"scan", {"multi", "single"}}};
  own.insert(own.end(), schedule.begin(), schedule.end());
  return own;
}

// The same of structures that papers search in groups, or with blocks that sort their probes.
std::vector<drawn_option> with_paper_schedule(std::vector<drawn_option> own) {
  own.push_back({"reorder", {"none", "single", "double"}});
  own.push_back({"group", {"exact", "power"}});
  return with_schedule(std::move(own));
}

// What `rx` and `cgrx` share.
std::vector<drawn_option> with_build(std::vector<drawn_option> own) {
  const std::vector<drawn_option> build{{"bits",
                                         {"23/23/18", "18/23/23", "23/20/21", "23/23/23",
                                          "10/11/11", "16/16/0", "0/0/23", "3/5/7", "0/0/0"}},
                                        {"compact", {"auto", "on", "off"}},
                                        {"build", {"fast", "trace"}},
                                        {"parts", {"auto", "1", "2", "3", "5", "16", "4096"}},
                                        {"order", {"auto", "batch", "tiles", "sorted"}}};
  own.insert(own.end(), build.begin(), build.end());
  return own;
}

std::string word(const option_map& options, std::string_view name, const char* usual) {
  const auto at = options.find(name);
  return at != options.end() ? at->second : usual;
}

// Numbers separated by slashes.
std::array<unsigned, 3> parse(const std::string& text) {
  std::array<unsigned, 3> parts{};
  std::sscanf(text.c_str(), "%u/%u/%u", &parts[0], &parts[1], &parts[2]);
  return parts;
}

// Whether the steps of a grid are short enough for its bits.
bool fits(const std::string& bits, const std::string& scale) {
  constexpr unsigned most = 39;
  const auto [x, y, z] = parse(bits);
  const auto steps = parse(scale);
  return steps[0] + y <= most && steps[1] + z <= most;
}

// Without a sorted column hits cannot be checked, and what asks for its order does not apply.
bool is_legal_by_rows(const option_map& options) {
  for (const char* option : {"ranges", "hits", "duplicates", "order", "inverse"})
    if (options.contains(option)) return false;
  return word(options, "primitive", "auto") != "box" && word(options, "mode", "3d") != "extended";
}

bool is_legal_rx(const option_map& options) {
  if (is_by_rows(options) && !is_legal_by_rows(options)) return false;
  const bool grid = word(options, "mode", "3d") == "3d";
  if (!grid && (options.contains("bits") || options.contains("scale"))) return false;
  const std::string scale = word(options, "scale", "auto");
  if (scale != "auto" && !fits(word(options, "bits", "23/23/18"), scale)) return false;
  if (word(options, "primitive", "auto") != "sphere") return true;
  return word(options, "mode", "3d") != "extended" && (scale == "auto" || scale == "0/0");
}

bool is_legal_cgrx(const option_map& options) {
  if (word(options, "node", "off") != "off") {
    // A node must have room for a bucket.
    if (std::stoul(word(options, "node", "")) < std::stoul(word(options, "bucket", "16")))
      return false;
    if (word(options, "layout", "column") != "column") return false;
  }
  if (word(options, "mapping", "fit") == "fit")
    return !options.contains("bits") && !options.contains("scale");
  const std::string scale = word(options, "scale", "auto");
  return word(options, "scene", "auto") != "spans" &&
         (scale == "auto" || fits(word(options, "bits", "23/23/18"), scale));
}

bool is_legal_hierarchy(backend where, const option_map& options) {
  const std::string top = word(options, "top", "auto");
  const bool rays = top == "rays" || (top == "auto" && where == backend::optix);
  if (where == backend::cuda ? rays : where == backend::optix && !rays) return false;
  // A thread that loads vectors answers by itself.
  const std::string group = word(options, "group", "auto");
  return word(options, "load", "auto") != "vector" || group == "auto" || group == "1";
}

}  // namespace

const std::vector<drawn_structure>& drawn_structures() {
  static const std::vector<drawn_structure> all{
      {"sorted_array", with_paper_schedule({{"layout", {"column", "row"}}})},
      {"eytzinger", with_paper_schedule({{"layout", {"row", "column"}}, {"k", numbers(2, 33)}})},
      {"pivot_tree", with_paper_schedule({{"layout", {"row", "column", "keys"}},
                                          {"search", {"lines", "groups"}},
                                          {"nodes", {"auto", "exact", "quantised", "narrow"}},
                                          {"k", numbers(2, 33)},
                                          {"levels", numbers(1, 4, {"all", "40"})}})},
      {"btree", with_schedule({{"fill", {"50", "57", "80", "93", "100"}}})},
      {"direct", with_schedule({{"limit", numbers(1, 20, {"1024"})}})},
      {"hash_open",
       {{"load", numbers(10, 95)},
        {"bucket", {"64", "128"}},
        {"placement", {"linear", "jumps", "choices"}},
        {"repeats", {"allowed", "refused"}},
        {"reading", {"shared", "single"}},
        {"seed", numbers(0, 20, {"random", "4294967295"})}}},
      {"hash_bucket",
       {{"occupancy", numbers(25, 400)},
        {"repeats", {"allowed", "refused"}},
        {"reading", {"shared", "single"}},
        {"seed", numbers(0, 20, {"random", "4294967295"})}}},
      {"rx", with_build({{"mode", {"3d", "naive", "extended"}},
                         {"scale", {"auto", "0/0", "15/20", "15/21", "9/18", "16/1", "39/16"}},
                         {"primitive", {"auto", "triangle", "sphere", "box"}},
                         {"primitives", {"sorted", "rows"}},
                         {"ranges", {"offset", "zero"}},
                         {"hits", {"closest", "any"}},
                         {"duplicates", {"compress", "keep"}},
                         {"inverse", {"off", "on", "auto"}}})},
      {"cgrx", with_build({{"bucket", {"2", "3", "4", "5", "8", "13", "16", "32", "100", "65536"}},
                           {"node", {"off", "2", "4", "6", "8", "16", "32", "100", "256"}},
                           {"layout", {"column", "aligned", "packed"}},
                           {"scene", {"auto", "spans", "optimised", "naive"}},
                           {"mapping", {"fit", "bits"}},
                           {"scale", {"auto", "0/0", "15/20", "15/21", "9/18", "16/1", "39/16"}},
                           {"search", {"auto", "binary", "linear", "interpolated"}},
                           {"scan", {"multi", "single"}},
                           {"rebuild", {"never", "2", "3", "8", "1024"}}})},
      {"rmq_cover",
       {{"memory", {"fast", "small"}},
        {"ties", {"leftmost", "rightmost"}},
        {"extreme", {"minimum", "maximum"}}}},
      {"rmq_hierarchy",
       {{"chunk", {"auto", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024"}},
        {"cutoff", {"auto", "2", "3", "9", "100", "4294967295"}},
        {"top", {"auto", "scan", "rays"}},
        {"load", {"auto", "vector", "coalesced"}},
        {"group", {"auto", "1", "2", "4", "8", "16", "32"}},
        {"assign", {"queue", "multi"}},
        {"ties", {"leftmost", "rightmost"}},
        {"extreme", {"minimum", "maximum"}}}},
      {"rmq_lca", {{"ties", {"leftmost", "rightmost"}}, {"extreme", {"minimum", "maximum"}}}},
      {"rmq_rx",
       {{"ties", {"leftmost", "rightmost"}},
        {"extreme", {"minimum", "maximum"}},
        {"block", {"32", "64", "128", "256", "512", "1024", "2048", "4096"}},
        {"compact", {"auto", "on", "off"}},
        {"build", {"fast", "trace"}}}},
      {"rmq_scan", {{"ties", {"leftmost", "rightmost"}}, {"extreme", {"minimum", "maximum"}}}},
  };
  return all;
}

bool is_legal(std::string_view structure, backend where, const option_map& options) {
  if (structure == "pivot_tree") {
    if (word(options, "search", "lines") == "groups")
      return !options.contains("nodes") && !stores_no_rows(options);
    return !options.contains("k") && !options.contains("levels") && !options.contains("reorder") &&
           !options.contains("group") && word(options, "layout", "row") != "column";
  }
  if (structure == "rx") return is_legal_rx(options);
  if (structure == "cgrx") return is_legal_cgrx(options);
  if (structure == "rmq_hierarchy") return is_legal_hierarchy(where, options);
  return true;
}

option_map draw_options(const drawn_structure& structure, backend where, std::mt19937_64& random) {
  const std::uint64_t given = below(random, 4);  // how many of four options, on average
  for (;;) {
    option_map options;
    for (const auto& [name, values] : structure.options)
      if (below(random, 4) < given) options[name] = values[below(random, values.size())];
    if (is_legal(structure.name, where, options)) return options;
  }
}

bool is_by_rows(const option_map& options) {
  return word(options, "primitives", "sorted") == "rows";
}

bool stores_no_rows(const option_map& options) {
  return word(options, "layout", "row") == "keys";
}

bool answers_ranges(std::string_view structure, key_format key, const option_map& options) {
  if (is_by_rows(options) && (key.encoded_bits() > 32 || options.contains("bits"))) return false;
  return has_order(structure);
}

bool has_order(std::string_view structure) {
  const auto all = capabilities();
  return std::any_of(all.begin(), all.end(), [&](const capability& one) {
    return one.structure == structure && one.ranges;
  });
}

std::optional<std::uint64_t> largest_place(std::string_view structure, const option_map& options) {
  unsigned bits = 64;
  const auto of_grid = [&] {
    const auto [x, y, z] = parse(word(options, "bits", "23/23/18"));
    return x + y + z;
  };
  if (structure == "rx") {
    const std::string mode = word(options, "mode", "3d");
    bits = mode == "3d" ? of_grid() : mode == "naive" ? 23 : 29;
  } else if (structure == "cgrx" && word(options, "mapping", "fit") == "bits") {
    bits = of_grid();
  }
  if (bits >= 64) return std::nullopt;
  return (std::uint64_t{1} << bits) - 1;
}

}  // namespace raydex::test
