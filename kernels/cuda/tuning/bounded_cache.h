// What has been made for a key, found again when the key comes back.
#pragma once

#include <cstddef>
#include <map>
#include <utility>

namespace parbench::cuda {

/// Holds at most `max_values` values. One more drops all the others: keys that come back, the
/// addresses of a step's buffers for one, are few, and keeping an order of use would cost every
/// look-up.
template <class Key, class Value>
class BoundedCache {
 public:
  explicit BoundedCache(std::size_t max_values) : max_values_(max_values) {}

  /// The key's value; where there is none, what `make()` returns. An exception of `make` leaves
  /// none.
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
