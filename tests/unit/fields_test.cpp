// The scene language's mechanics: reading with all problems at once, selections, keyframes.
#include "core/fields.hpp"

#include <gtest/gtest.h>

#include "model/selection.hpp"

namespace osier {
namespace {

struct Sample {
  double size = 2;
  int count = 3;
  Track<double> rate{1.0};
  static const char* kind() { return "sample"; }
  static const char* help() { return "A sample."; }
  template <class F>
  void fields(F& f) {
    f("size", size, "Size", {.unit = "m", .min = 0, .above_min = true});
    f("count", count, "Count", {.min = 1, .max = 10});
    f("rate", rate, "Rate");
  }
};

std::vector<Problem> problems_of(const std::string& text) {
  Problems problems;
  const Json json = Json::parse(text);
  JsonReader reader(json, "/s", problems);
  Sample sample;
  sample.fields(reader);
  reader.finish();
  try {
    problems.throw_if_any();
  } catch (const InputError& e) {
    return e.problems();
  }
  return {};
}

TEST(Fields, ReportEveryProblemWithItsPointer) {
  const auto p = problems_of(R"({"size": -1, "cuont": 2, "rate": "fast", "count": 2.5})");
  ASSERT_EQ(p.size(), 4u);
  EXPECT_EQ(p[0].where, "/s/size");
  EXPECT_EQ(p[0].what, "-1 m");
  EXPECT_EQ(p[1].where, "/s/count");
  EXPECT_EQ(p[2].where, "/s/rate");
  EXPECT_EQ(p[3].where, "/s/cuont");
  EXPECT_NE(p[3].remedy.find("`count`"), std::string::npos) << p[3].remedy;
}

TEST(Fields, AcceptWholeNumbersInAnySpelling) {
  EXPECT_TRUE(problems_of(R"({"count": 1e1})").empty());
  EXPECT_EQ(problems_of(R"({"count": 1e2})").size(), 1u);
}

TEST(Fields, KeyframesMustAdvanceInTime) {
  EXPECT_TRUE(problems_of(R"({"rate": {"keys": [[0, 1], [1, 2]]}})").empty());
  const auto p = problems_of(R"({"rate": {"keys": [[1, 1], [1, 2]]}})");
  ASSERT_EQ(p.size(), 1u);
  EXPECT_EQ(p[0].where, "/s/rate/keys/1/0");
}

struct AlongRod {
  Track<double> size;
  AxisPair pair;
  static const char* kind() { return "along_rod"; }
  static const char* help() { return "A sample."; }
  template <class F>
  void fields(F& f) {
    f("size", size, "Size", {.min = 0, .above_min = true, .over = "fraction"});
    f("pair", pair, "Pair", {.unit = "N", .min = 0, .above_min = true});
  }
};

TEST(Fields, KeysOverAFractionStayInsideIt) {
  const auto read = [](const char* text, AlongRod& value) {
    Problems problems;
    const Json json = Json::parse(text);
    JsonReader reader(json, "", problems);
    value.fields(reader);
    std::vector<Problem> list;
    try {
      problems.throw_if_any();
    } catch (const InputError& e) {
      list = e.problems();
    }
    return list;
  };
  AlongRod value;
  EXPECT_TRUE(read(R"({"size": {"keys": [[0, 1], [1, 0.5]]}, "pair": 3})", value).empty());
  EXPECT_EQ(value.size.at(0.5), 0.75);
  EXPECT_EQ(value.pair.d1, 3);
  EXPECT_EQ(value.pair.d2, 3);
  EXPECT_TRUE(read(R"({"pair": [3, 4]})", value).empty());
  EXPECT_EQ(value.pair.d2, 4);
  const auto p = read(R"({"size": {"keys": [[0, 1], [2, 0]]}, "pair": [1, -1]})", value);
  ASSERT_EQ(p.size(), 3u);
  EXPECT_EQ(p[0].where, "/size/keys/1/0");
  EXPECT_EQ(p[1].where, "/size/keys/1/1");
  EXPECT_EQ(p[2].where, "/pair/1");
  EXPECT_EQ(read(R"({"pair": [1, 2, 3]})", value).size(), 1u);
}

TEST(Track, InterpolatesHoldsAndIntegrates) {
  Track<double> t;
  t.keys = {{1, 10}, {3, 20}};
  EXPECT_EQ(t.at(0), 10);
  EXPECT_EQ(t.at(2), 15);
  EXPECT_EQ(t.at(9), 20);
  for (const Interpolation mode : {Interpolation::linear, Interpolation::smooth, Interpolation::step}) {
    t.interpolation = mode;
    for (const double end : {-1.0, 0.5, 1.7, 3.0, 4.5}) {
      double sum = 0;
      const int n = 200000;
      for (int i = 0; i < n; ++i) sum += t.at(end * (i + 0.5) / n) * end / n;
      EXPECT_NEAR(t.integral(end), sum, 1e-3) << end;
    }
  }
}

TEST(Selection, FindsPlacesFromBothEndsAndRanges) {
  const std::vector<RodInfo> rods{{"beam", {4, 5, 6, 7, 8}, {2, 3, 4, 5}, {1, 2, 3}, false}};
  const Names names(rods, 9, 6, 4);
  const auto find = [&](const char* json, Element kind) {
    Problems problems;
    Selection s;
    s.read_short(Json::parse(json), "/x", problems);
    const auto found = names.find(s, kind, problems);
    return problems.empty() ? found : std::vector<Index>{-1};
  };
  EXPECT_EQ(find("\"beam:end\"", Element::vertex), (std::vector<Index>{8}));
  EXPECT_EQ(find("\"beam:end\"", Element::segment), (std::vector<Index>{5}));
  EXPECT_EQ(find("\"beam:-2\"", Element::vertex), (std::vector<Index>{7}));
  EXPECT_EQ(find("\"beam:1..3\"", Element::vertex), (std::vector<Index>{5, 6, 7}));
  EXPECT_EQ(find("[0, \"beam:*\"]", Element::joint), (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_EQ(find("\"beam:5\"", Element::vertex), (std::vector<Index>{-1}));
  EXPECT_EQ(find("9", Element::vertex), (std::vector<Index>{-1}));
  EXPECT_EQ(find("\"baem:0\"", Element::vertex), (std::vector<Index>{-1}));
}

}  // namespace
}  // namespace osier
