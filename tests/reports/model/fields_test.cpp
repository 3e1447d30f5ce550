// The list of fields against the structs that it lists and against the JSON Schema of reports.
#include "reports/model/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reports/findings/rules.h"

namespace parbench::report {
namespace {

using Schema = nlohmann::json;

// ------------------------------------------------------------------------- members of an aggregate

/// Initialises a member of any type.
struct AnyMember {
  template <class T>
  operator T() const {  // NOLINT(google-explicit-constructor)
    return {};
  }
};

/// Returns how many members an aggregate has: the number of values that can initialise it.
template <class T, class... Known>
consteval std::size_t member_count() {
  if constexpr (requires { T{Known{}..., AnyMember{}}; }) {
    return member_count<T, Known..., AnyMember>();
  } else {
    return sizeof...(Known);
  }
}

// ------------------------------------------------------------------------------ types of the
// report

template <class T>
struct ListTraits : std::false_type {};
template <class T>
struct ListTraits<std::vector<T>> : std::true_type {
  using Item = T;
};
template <class T>
struct NamedTraits : std::false_type {};
template <class T>
struct NamedTraits<std::vector<std::pair<std::string, T>>> : std::true_type {
  using Item = T;
};

/// The types that JSON Schema has for a value of the report.
template <class T>
std::set<std::string> json_types() {
  if constexpr (std::is_same_v<T, bool>) return {"boolean"};
  if constexpr (std::is_integral_v<T>) return {"integer"};
  if constexpr (std::is_arithmetic_v<T>) return {"number"};
  if constexpr (std::is_same_v<T, std::string> || std::is_enum_v<T>) return {"string"};
  if constexpr (std::is_same_v<T, Value>) return {"number", "string"};
  if constexpr (ListTraits<T>::value && !NamedTraits<T>::value) return {"array"};
  return {"object"};
}

/// Compares the lists of fields, from a struct downwards, with its members and with a schema.
class Comparison {
 public:
  explicit Comparison(Schema schema) : schema_(std::move(schema)) {}

  /// A struct whose JSON object `node` describes. `beside`: properties that no member stands for.
  template <class T>
  void compare(const Schema& node, const std::string& path,
               const std::set<std::string>& beside = {}) {
    const Schema object = resolved(node);
    std::set<std::string> required = beside;
    std::set<std::string> all = beside;
    T value;
    const FieldVisitor visitor{*this, object, path, required, all};
    visit_fields(visitor, value);
    EXPECT_EQ(all.size() - beside.size(), member_count<T>())
        << path
        << ": members of the struct that are missing in reports/model/fields.h, or twice there";
    EXPECT_EQ(texts(object.value("required", Schema::array())), required) << path;
    EXPECT_EQ(keys(object.at("properties")), all) << path;
    EXPECT_EQ(object.value("additionalProperties", Schema(true)), false) << path;
  }

 private:
  struct FieldVisitor {
    Comparison& comparison;
    const Schema& object;
    const std::string& path;
    std::set<std::string>& required;
    std::set<std::string>& all;

    template <class T>
    void operator()(const char* name, T& field) const {
      required.insert(name);
      optional(name, field);
    }
    template <class T>
    void optional(const char* name, T& /*field*/) const {
      all.insert(name);
      const Schema properties = object.value("properties", Schema::object());
      if (!properties.contains(name)) return;  // the names are compared as a whole
      comparison.compare_value<T>(object.at("properties").at(name), path + '.' + name);
    }
  };

  template <class T>
  void compare_value(const Schema& node, const std::string& path) {
    if constexpr (requires(T value) { value.has_value(); }) {
      compare_value<typename T::value_type>(node, path);
    } else {
      std::set<std::string> types = types_of(node);
      types.erase("null");  // stands for a number that is not finite
      EXPECT_EQ(types, json_types<T>()) << path;
      compare_inside<T>(node, path);
    }
  }

  template <class T>
  void compare_inside(const Schema& node, const std::string& path) {
    if constexpr (NamedTraits<T>::value) {
      compare_value<typename NamedTraits<T>::Item>(resolved(node).at("additionalProperties"),
                                                   path + ".*");
    } else if constexpr (ListTraits<T>::value) {
      compare_value<typename ListTraits<T>::Item>(resolved(node).at("items"), path + "[]");
    } else if constexpr (std::is_aggregate_v<T>) {
      compare<T>(node, path);
    }
  }

  /// Follows a reference to a definition.
  [[nodiscard]] Schema resolved(const Schema& node) const {
    if (!node.contains("$ref")) return node;
    const auto path = node.at("$ref").get<std::string>().substr(1);
    return resolved(schema_.at(Schema::json_pointer(path)));
  }

  /// The types that a node names, or those of its constants.
  [[nodiscard]] std::set<std::string> types_of(const Schema& node) const {
    const Schema found = resolved(node);
    if (found.contains("type")) return texts(found.at("type"));
    std::set<std::string> types;
    for (const Schema& constant : found.value("enum", Schema::array())) {
      types.insert(constant.type_name());
    }
    if (found.contains("const")) types.insert(found.at("const").type_name());
    return types;
  }

  static std::set<std::string> texts(const Schema& list) {
    if (list.is_string()) return {list.get<std::string>()};
    return list.get<std::set<std::string>>();
  }

  static std::set<std::string> keys(const Schema& object) {
    std::set<std::string> names;
    for (const auto& [name, value] : object.items()) names.insert(name);
    return names;
  }

  Schema schema_;
};

/// Counts the fields of a list.
struct Counter {
  std::size_t count = 0;
  void operator()(const char*, auto&) { ++count; }
  void optional(const char*, auto&) { ++count; }
};

TEST(ReportFields, OfAFileOfPeaksAreTheMembersOfItsStruct) {
  KnownPeaks peaks;
  Counter counter;
  visit_fields(counter, peaks);
  EXPECT_EQ(counter.count, member_count<KnownPeaks>());
}

TEST(ReportFields, AreTheMembersOfTheStructsAndThoseOfTheSchema) {
  std::ifstream file(PARBENCH_SCHEMA);
  const Schema schema = Schema::parse(file);
  Comparison(schema).compare<Report>(schema.at("$defs").at("parbench"), "parbench",
                                     {"schema_version"});
}

TEST(ReportFields, RulesOfFindingsAreThoseOfTheSchema) {
  std::ifstream file(PARBENCH_SCHEMA);
  const Schema schema = Schema::parse(file);
  const auto known = schema.at(Schema::json_pointer("/$defs/finding/properties/rule/enum"))
                         .get<std::vector<std::string>>();
  std::vector<std::string> rules;
  for (const Rule& rule : all_rules()) rules.emplace_back(rule.name);
  EXPECT_THAT(known, testing::UnorderedElementsAreArray(rules));
}

}  // namespace
}  // namespace parbench::report
