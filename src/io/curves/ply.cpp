// .ply: element `vertex` with x, y, z and if you like width, diameter or radius; element `edge` with vertex1 and vertex2 and if
// you like curve. Other elements and properties are passed over. ascii, binary_little_endian and binary_big_endian.
#include "io/curves/binary.hpp"
#include "io/curves/chain.hpp"
#include "io/curves/registry.hpp"
#include "io/curves/scan.hpp"

namespace osier {

namespace {

struct ScalarType {
  const char *name, *other;
  std::size_t size;
  bool whole;
};
constexpr ScalarType kTypes[] = {{"char", "int8", 1, true},      {"uchar", "uint8", 1, true},    {"short", "int16", 2, true},
                                 {"ushort", "uint16", 2, true},  {"int", "int32", 4, true},      {"uint", "uint32", 4, true},
                                 {"float", "float32", 4, false}, {"double", "float64", 8, false}};

struct Property {
  std::string_view name;
  std::size_t type = 0;                   ///< in kTypes
  std::optional<std::size_t> list_count;  ///< type of a list's length
};
struct Element {
  std::string_view name;
  std::uint64_t count = 0;
  std::size_t line = 0;
  std::vector<Property> properties;
};

class PlyReader {
 public:
  explicit PlyReader(const CurveSource& source) : source_(source), binary_(source) {}

  CurveSet run() {
    read_header();
    for (const Element& e : elements_) read(e);
    if (soup_.lines.empty() && !soup_.points.empty())
      source_.fail(fmt::format("has {} vertices but no edges", soup_.points.size()),
                   "export edges: an element `edge` with vertex1 and vertex2");
    for (std::size_t c = 0; c < soup_.corners.size(); ++c)
      if (soup_.corners[c] >= soup_.points.size())
        source_.fail(fmt::format("edge {} ends at vertex {}, which does not exist", c / 2, soup_.corners[c]),
                     fmt::format("the file has {} vertices, counted from 0", soup_.points.size()));
    return chained(soup_);
  }

 private:
  void read_header() {
    const std::string_view text = source_.text();
    LineScanner lines(text);
    std::string_view line;
    if (!lines.next(line) || line != "ply") source_.fail_at_line(1, "does not begin with `ply`", "is this a .ply file?");
    bool format = false;
    for (;;) {
      if (!lines.next(line))
        source_.fail_at_line(lines.number() + 1, "the header has no end_header", "it is cut off: copy it again");
      number_ = lines.number();
      std::string_view rest = line;
      const std::string_view word = next_word(rest);
      if (word == "end_header") break;
      if (word == "comment" || word == "obj_info" || word.empty()) continue;
      if (word == "format") format = read_format(next_word(rest));
      else if (word == "element") add_element(rest);
      else if (word == "property") add_property(rest);
      else
        source_.fail_at_line(number_, in_quotes(word) + " is not known in a header", "use format, comment, element and property");
    }
    if (!format) source_.fail_at_line(number_, "the header has no format", "add `format ascii 1.0`");
    const auto end = static_cast<std::size_t>(line.data() - text.data()) + line.size();
    const std::size_t data = std::min(text.size(), end + (end < text.size() && text[end] == '\r' ? 2 : 1));
    binary_ = BinaryCursor(source_, data, big_endian_ ? std::endian::big : std::endian::little);
    ascii_rest_ = text.substr(data);
    ++number_;
  }

  bool read_format(std::string_view word) {
    ascii_ = word == "ascii", big_endian_ = word == "binary_big_endian";
    if (!ascii_ && !big_endian_ && word != "binary_little_endian")
      source_.fail_at_line(number_, in_quotes(word) + " is not a format",
                           "write ascii, binary_little_endian or binary_big_endian");
    return true;
  }

  void add_element(std::string_view rest) {
    const std::string_view name = next_word(rest);
    const auto count = whole_number_of(next_word(rest));
    if (!count || *count < 0) source_.fail_at_line(number_, "an element without a number", "write element vertex 12");
    for (const Element& e : elements_)
      if (e.name == name) source_.fail_at_line(number_, "element " + in_quotes(name) + " is there twice", "keep one");
    elements_.push_back({.name = name, .count = static_cast<std::uint64_t>(*count), .line = number_, .properties = {}});
  }

  std::size_t take_type(std::string_view& rest) const {
    const std::string_view word = next_word(rest);
    for (std::size_t i = 0; i < std::size(kTypes); ++i)
      if (word == kTypes[i].name || word == kTypes[i].other) return i;
    source_.fail_at_line(number_, in_quotes(word) + " is not a type of number",
                         "use char, uchar, short, ushort, int, uint, float or double");
  }

  void add_property(std::string_view rest) {
    if (elements_.empty()) source_.fail_at_line(number_, "a property before the first element", "begin with an element");
    Property p;
    std::string_view after = rest;
    if (next_word(after) == "list") {
      rest = after;
      p.list_count = take_type(rest);
      if (!kTypes[*p.list_count].whole) source_.fail_at_line(number_, "a list counted in fractions", "use uchar or int");
    }
    p.type = take_type(rest);
    p.name = next_word(rest);
    elements_.back().properties.push_back(p);
  }

  /// Place of a property, of which there must be one that is no list; none when it may be absent.
  std::optional<std::size_t> place(const Element& e, std::string_view name, bool required) const {
    for (std::size_t i = 0; i < e.properties.size(); ++i)
      if (e.properties[i].name == name) {
        if (e.properties[i].list_count)
          source_.fail_at_line(e.line, fmt::format("{} is a list", in_quotes(name)), "let it be one number");
        return i;
      }
    if (required)
      source_.fail_at_line(e.line, fmt::format("element {} has no property {}", in_quotes(e.name), in_quotes(name)), "add it");
    return {};
  }

  double take(std::size_t type) {
    if (ascii_) {
      std::string_view word = next_word(ascii_line_);
      while (word.empty()) {
        if (ascii_rest_.empty())
          source_.fail_at_line(number_, "the file ends before its last number", "it is cut off: copy it again");
        const std::size_t end = ascii_rest_.find('\n');
        ascii_line_ = ascii_rest_.substr(0, end);
        ascii_rest_ = end == std::string_view::npos ? std::string_view() : ascii_rest_.substr(end + 1);
        word = next_word(ascii_line_);
        line_of_word_ = number_++;
      }
      const std::optional<double> v = number_of(word);
      if (!v || (kTypes[type].whole && std::nearbyint(*v) != *v))
        source_.fail_at_line(line_of_word_, in_quotes(word) + " is not a " + (kTypes[type].whole ? "whole number" : "number"),
                             "write one");
      return *v;
    }
    switch (type) {
      case 0:
        return static_cast<double>(binary_.take<std::int8_t>("a number"));
      case 1:
        return static_cast<double>(binary_.take<std::uint8_t>("a number"));
      case 2:
        return static_cast<double>(binary_.take<std::int16_t>("a number"));
      case 3:
        return static_cast<double>(binary_.take<std::uint16_t>("a number"));
      case 4:
        return static_cast<double>(binary_.take<std::int32_t>("a number"));
      case 5:
        return static_cast<double>(binary_.take<std::uint32_t>("a number"));
      case 6:
        return static_cast<double>(binary_.take<float>("a number"));
      default:
        return binary_.take<double>("a number");
    }
  }

  [[noreturn]] void fail_here(const std::string& what, const std::string& remedy) const {
    if (ascii_) source_.fail_at_line(line_of_word_, what, remedy);
    source_.fail_at_byte(place_, what, remedy);
  }

  /// All numbers of one item; lists are passed over and count as 0.
  void take_item(const Element& e) {
    item_.clear();
    place_ = binary_.at();
    for (const Property& p : e.properties) {
      if (!p.list_count) {
        item_.push_back(take(p.type));
        continue;
      }
      place_ = binary_.at();
      const double n = take(*p.list_count);
      if (!(n >= 0)) fail_here("a list of negative length", "write the file anew");
      if (ascii_)
        for (double i = 0; i < n; ++i) take(p.type);
      else {
        if (n > static_cast<double>(binary_.left())) fail_here("a list longer than the file", "write the file anew");
        binary_.skip(static_cast<std::size_t>(n) * kTypes[p.type].size, "a list");
      }
      item_.push_back(0);
    }
  }

  void read(const Element& e) {
    if (e.name == "vertex") read_vertices(e);
    else if (e.name == "edge") read_edges(e);
    else if (!e.properties.empty())  // an item without properties has no bytes
      for (std::uint64_t i = 0; i < e.count; ++i) take_item(e);
  }

  void read_vertices(const Element& e) {
    const std::size_t x = *place(e, "x", true), y = *place(e, "y", true), z = *place(e, "z", true);
    std::optional<std::size_t> width;
    double factor = 1;
    for (const auto& [name, f] : {std::pair{"width", 1.0}, {"diameter", 1.0}, {"radius", 2.0}})
      if (!width && (width = place(e, name, false))) factor = f;
    for (std::uint64_t i = 0; i < e.count; ++i) {
      take_item(e);
      soup_.points.push_back({item_[x], item_[y], item_[z]});
      if (!std::isfinite(item_[x]) || !std::isfinite(item_[y]) || !std::isfinite(item_[z]))
        fail_here(fmt::format("vertex {} is not finite", i), "use finite numbers");
      if (!width) continue;
      soup_.widths.push_back(factor * item_[*width]);
      if (!(soup_.widths.back() >= 0 && std::isfinite(soup_.widths.back())))
        fail_here(fmt::format("the width of vertex {} is negative or not finite", i), "use 0 or more");
    }
  }

  void read_edges(const Element& e) {
    const std::size_t a = *place(e, "vertex1", true), b = *place(e, "vertex2", true);
    const std::optional<std::size_t> curve = place(e, "curve", false);
    for (std::uint64_t i = 0; i < e.count; ++i) {
      take_item(e);
      const std::size_t first = soup_.corners.size();
      for (double v : {item_[a], item_[b]}) {
        if (!(v >= 0 && v < 1e15 && std::nearbyint(v) == v))
          fail_here(fmt::format("edge {} ends at {}, which is not the number of a vertex", i, v), "vertices count from 0");
        soup_.corners.push_back(static_cast<std::size_t>(v));
      }
      std::size_t group = 0;
      if (curve) {
        const double k = item_[*curve];
        if (!(k >= 0 && k < 1e15 && std::nearbyint(k) == k))
          fail_here(fmt::format("edge {} belongs to curve {}", i, k), "use whole numbers from 0");
        group = static_cast<std::size_t>(k);
      }
      soup_.lines.push_back({.first = first, .last = first + 2, .group = group});
    }
  }

  const CurveSource& source_;
  BinaryCursor binary_;
  std::string_view ascii_rest_, ascii_line_;
  bool ascii_ = true, big_endian_ = false;
  std::size_t place_ = 0;  ///< of the item or the list that is being read, in bytes
  std::size_t number_ = 0, line_of_word_ = 0;
  std::vector<Element> elements_;
  std::vector<double> item_;
  LineSoup soup_;
};

}  // namespace

CurveSet read_ply(const CurveSource& source, const CurveReadOptions&) { return PlyReader(source).run(); }

}  // namespace osier
