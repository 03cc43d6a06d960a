// SPDX-License-Identifier: Apache-2.0
// The table of experiments: every entry can run, and is measured once.
#include "lab/papers/experiments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lab/lookups/family.hpp"
#include "lab/lookups/measure.hpp"
#include "lab/machine/machine.hpp"
#include "lab/minima/family.hpp"
#include "lab/minima/measure.hpp"
#include "lab/plan.hpp"
#include "lab/tests/workloads/samples.hpp"
#include "lab/workloads/keys/generated.hpp"
#include "lab/workloads/minima/rmq_generated.hpp"
#include "raydex/capability.hpp"
#include "raydex/error.hpp"
#include "raydex/rmq.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {
namespace {

// All candidates of the table, each once.
std::vector<io::structure_choice> all_candidates() {
  std::vector<io::structure_choice> all;
  for (const auto& entry : plan<lookup_family>(experiments())) {
    for (const auto& next : entry.tasks) {
      if (std::ranges::find(all, next.who) == all.end()) all.push_back(next.who);
    }
  }
  return all;
}

TEST(experiments, names_are_unique_and_every_figure_is_there) {
  std::set<std::string> names;
  for (const experiment& e : experiments()) {
    EXPECT_TRUE(names.insert(e.name).second) << e.name;
    EXPECT_FALSE(e.title.empty()) << e.name;
  }
  for (const char* figure : {"1a", "1b", "14a", "14b", "14c", "15", "16", "17a", "17b", "18a",
                             "18b", "19", "20", "21", "22"}) {
    EXPECT_TRUE(names.contains("lightweight/" + std::string(figure))) << figure;
  }
  for (const char* figure : {"3a", "3b", "t3", "t5", "t7", "7", "8", "9", "10a", "10b", "10c", "11",
                             "12", "13", "14", "15", "16", "17", "18"}) {
    EXPECT_TRUE(names.contains("rx/" + std::string(figure))) << figure;
  }
  for (const char* figure : {"8a", "8b", "t1", "10", "11", "12", "13", "14", "15"}) {
    EXPECT_TRUE(names.contains("cgrx/" + std::string(figure))) << figure;
  }
}

TEST(experiments, every_figure_of_minima_is_there) {
  for (const char* figure : {"1", "12", "13", "14", "15", "16", "17", "18", "5.2", "5.3"})
    EXPECT_EQ(find_experiments({"gpu-rmq/" + std::string(figure)}).size(), 1u) << figure;
}

TEST(experiments, every_figure_of_the_thesis_is_found) {
  const auto shows = [](const experiment& e, const std::string& figure) {
    return e.name == "thesis/" + figure ||
           (e.name.starts_with("thesis/") && (e.title.find(figure + " ") != std::string::npos ||
                                              e.title.find(figure + ")") != std::string::npos));
  };
  for (int number = 5; number <= 25; ++number) {
    const std::string figure = "5." + std::to_string(number);
    EXPECT_TRUE(std::ranges::any_of(experiments(), [&](const experiment& e) {
      return shows(e, figure);
    })) << figure;
  }
}

TEST(experiments, joins_of_the_thesis_give_pairs) {
  const std::vector<experiment> joins = find_experiments({"thesis/join-*"});
  EXPECT_EQ(joins.size(), 6u);
  for (const auto& entry : plan<lookup_family>(joins)) {
    for (const auto& next : entry.tasks)
      EXPECT_EQ(next.kind, result::pairs);
  }
}

TEST(experiments, have_something_to_measure) {
  for (const experiment& e : experiments()) {
    SCOPED_TRACE(e.name);
    std::size_t tasks = 0;
    for (const auto& entry : plan<lookup_family>({e}))
      tasks += entry.tasks.size();
    for (const auto& entry : plan<minima_family>({e}))
      tasks += entry.tasks.size();
    EXPECT_GT(tasks, 0u);
    EXPECT_GE(e.repetitions, 1);
  }
}

TEST(experiments, buckets_are_searched_in_both_ways_and_all_layouts) {
  std::set<std::pair<std::string, std::string>> found;
  for (const auto& entry : plan<lookup_family>(find_experiments({"cgrx/t1"}))) {
    for (const auto& one : entry.tasks)
      found.emplace(one.who.options.at("search"), one.who.options.at("layout"));
  }
  EXPECT_EQ(found.size(), 2U * 3U);
}

TEST(experiments, buckets_of_the_paper_are_beside_ours) {
  for (const char* figure : {"10", "11", "12", "13", "14", "15"}) {
    SCOPED_TRACE(figure);
    std::set<std::string> mappings;
    for (const auto& entry : plan<lookup_family>(find_experiments({"cgrx/" + std::string(figure)})))
      for (const auto& one : entry.tasks) {
        if (one.who.structure != "cgrx") continue;
        const option_map& asked = one.who.options;
        const auto mapping = asked.find("mapping");
        mappings.insert(mapping == asked.end() ? "" : mapping->second);
        if (mapping == asked.end()) continue;
        EXPECT_EQ(asked.at("scene"), "optimised");
        EXPECT_EQ(asked.at("search"), "binary");
        EXPECT_EQ(asked.at("compact"), "on");
        EXPECT_EQ(asked.at("parts"), "1");
      }
    EXPECT_EQ(mappings, (std::set<std::string>{"", "bits"}));
  }
}

TEST(experiments, structures_are_known) {
  std::set<std::string> known;
  for (const capability& able : capabilities())
    known.insert(able.structure);
  for (const io::structure_choice& who : all_candidates())
    EXPECT_TRUE(known.contains(who.structure)) << who.structure;
}

TEST(experiments, options_are_legal_and_answers_right) {
  const session on(backend::cpu);
  const auto host = make_machine(on);
  workload spec = test::sized(1000, 100);
  spec.uniformity = 0;
  const generated points(spec, *host);
  spec.range_hits = 20;
  const generated ranges(spec, *host);
  std::set<std::string> of_points_alone;
  for (const capability& able : capabilities())
    if (!able.ranges) of_points_alone.insert(able.structure);
  for (const io::structure_choice& who : all_candidates()) {
    SCOPED_TRACE(who.structure + " " + to_text(who.options));
    const generated& data = of_points_alone.contains(who.structure) ? points : ranges;
    try {
      EXPECT_EQ(measure(*host, data, result::sum, who.structure, who.options, 1).wrong, 0u);
    } catch (const error& refusal) {
      ADD_FAILURE() << refusal.what();
    }
  }
}

TEST(experiments, minima_are_right) {
  const session on(backend::cpu);
  const auto host = make_machine(on);
  rmq_workload spec;
  spec.keys = 3000;
  spec.probes = 100;
  const rmq_generated data(spec, *host);
  std::set<std::string> known;
  for (const rmq_capability& able : rmq_capabilities())
    if (able.where == backend::cpu) known.insert(able.structure);
  std::vector<io::structure_choice> measured;
  for (const auto& planned : plan<minima_family>(experiments())) {
    for (const auto& [kind, who, wanted_by] : planned.tasks) {
      if (std::ranges::find(measured, who) != measured.end()) continue;
      SCOPED_TRACE(who.structure + " " + to_text(who.options));
      ASSERT_TRUE(known.contains(who.structure));
      measured.push_back(who);
      try {
        EXPECT_EQ(measure(*host, data, kind, who.structure, who.options, 1).wrong, 0u);
      } catch (const error& refusal) {
        ADD_FAILURE() << refusal.what();
      }
    }
  }
  EXPECT_FALSE(measured.empty());
}

TEST(experiments, are_found_by_name) {
  const auto names = [](const std::vector<std::string>& wanted) {
    std::vector<std::string> found;
    for (const experiment& e : find_experiments(wanted))
      found.push_back(e.name);
    return found;
  };
  using texts = std::vector<std::string>;
  EXPECT_EQ(names({"lightweight/19", "lightweight/1b"}),
            (texts{"lightweight/19", "lightweight/1b"}));
  EXPECT_EQ(names({"lightweight/14*"}),
            (texts{"lightweight/14a", "lightweight/14b", "lightweight/14c"}));
  EXPECT_EQ(names({"lightweight/*", "rx/*", "thesis/*", "cgrx/*", "gpu-rmq/*"}).size(),
            experiments().size());
  for (const char* unknown : {"", "lightweight", "lightweight/14", "heavyweight/*", "14a"}) {
    EXPECT_THROW(find_experiments({"lightweight/19", unknown}), invalid_argument) << unknown;
  }
}

TEST(experiments, candidates_are_all_combinations) {
  const auto all = parse_candidates("s a=1,2 b=x c=3,4");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].structure, "s");
  EXPECT_EQ(to_text(all[0].options), "a=1 b=x c=3");
  EXPECT_EQ(to_text(all[3].options), "a=2 b=x c=4");
  EXPECT_EQ(parse_candidates("s"), (std::vector{io::structure_choice{"s", {}}}));
  for (const char* bad : {"s a", "s =1", "s a=1 ", "s  a=1"}) {
    EXPECT_THROW(parse_candidates(bad), invalid_argument) << bad;
  }
}

TEST(experiments, of_keys_and_of_minima_are_told_apart) {
  const std::vector<experiment> both{
      {.name = "x",
       .trials = {{.candidates = {"a", "rmq_b"}, .workloads = {.keys = {"10"}, .probes = {"5"}}}}}};
  const auto keys = plan<lookup_family>(both);
  ASSERT_EQ(keys.size(), 1u);
  ASSERT_EQ(keys[0].tasks.size(), 1u);
  EXPECT_EQ(keys[0].tasks[0].who.structure, "a");
  EXPECT_EQ(keys[0].tasks[0].kind, result::first);
  const auto minima = plan<minima_family>(both);
  ASSERT_EQ(minima.size(), 1u);
  ASSERT_EQ(minima[0].tasks.size(), 1u);
  EXPECT_EQ(minima[0].tasks[0].who.structure, "rmq_b");
  EXPECT_EQ(minima[0].tasks[0].kind, rmq_result::min);
}

TEST(experiments, measure_everything_once_by_workload) {
  const axes small{.keys = {"10", "20"}, .probes = {"5"}};
  const axes other{.keys = {"20", "30"}, .probes = {"5"}};
  const auto workloads = plan<lookup_family>(
      {{.name = "x",
        .title = {},
        .trials = {{.candidates = {"a k=1,2", "b"}, .workloads = small},
                   {.candidates = {"a k=2"}, .workloads = small}}},
       {.name = "y",
        .title = {},
        .trials = {{.candidates = {"b", "c"}, .workloads = other, .results = {"first", "sum"}}}}});
  ASSERT_EQ(workloads.size(), 3u);
  const auto who = [&](std::size_t i) {
    std::vector<std::string> all;
    for (const auto& t : workloads.at(i).tasks) {
      std::string text = t.who.structure + to_text(t.who.options) + ":";
      for (const std::string& name : t.experiments)
        text += name;
      all.push_back(text);
    }
    return all;
  };
  using texts = std::vector<std::string>;
  EXPECT_EQ(workloads[0].spec.keys, 10u);
  EXPECT_EQ(who(0), (texts{"ak=1:x", "ak=2:x", "b:x"}));
  EXPECT_EQ(workloads[1].spec.keys, 20u);
  EXPECT_EQ(who(1), (texts{"ak=1:x", "ak=2:x", "b:xy", "c:y", "b:y", "c:y"}));
  EXPECT_EQ(workloads[2].spec.keys, 30u);
  EXPECT_EQ(who(2), (texts{"b:y", "c:y", "b:y", "c:y"}));
}

}  // namespace
}  // namespace raydex::bench
