// A cache with a limited number of values.
#pragma once

#include <cstddef>
#include <map>
#include <utility>

namespace parbench::cuda {

/// Holds at most `max_values` values. Adding a value to a full cache removes all others: recurring
/// keys, such as the addresses of a step's buffers, are few, and tracking the order of use would
/// slow down every look-up.
template <class Key, class Value>
class BoundedCache {
 public:
  explicit BoundedCache(std::size_t max_values) : max_values_(max_values) {}

  /// Returns the value of a key; if it has none, stores and returns the result of `make()`. Stores
  /// nothing if `make` throws.
  template <class Make>
  Value& get(const Key& key, const Make& make) {
    const auto found = values_.find(key);
    if (found != values_.end()) return found->second;
    Value made = make();
    if (values_.size() >= max_values_) values_.clear();
    return values_.emplace(key, std::move(made)).first->second;
  }

  void forget(const Key& key) { values_.erase(key); }

  [[nodiscard]] std::size_t size() const { return values_.size(); }

 private:
  std::map<Key, Value> values_;
  std::size_t max_values_;
};

}  // namespace parbench::cuda
