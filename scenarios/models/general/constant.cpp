// A table of the large constants in use, by a hash of their bytes.
#include "scenarios/models/general/constant.h"

#include <cstddef>
#include <functional>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace parbench::general {
namespace {

// number of values; sharing smaller constants would save little memory
constexpr std::size_t min_shared = 64;

std::string_view bytes_of(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

class ConstantTable {
 public:
  std::shared_ptr<const Constant> find_or_add(std::vector<double> values) {
    const std::lock_guard lock(mutex_);
    const std::size_t hash = std::hash<std::string_view>()(bytes_of(values));
    auto [one, end] = known_.equal_range(hash);
    while (one != end) {
      const std::shared_ptr<const Constant> known = one->second.lock();
      if (known != nullptr && bytes_of(known->values()) == bytes_of(values)) return known;
      one = known == nullptr ? known_.erase(one) : std::next(one);
    }
    auto made = std::make_shared<const Constant>(std::move(values));
    known_.emplace(hash, made);
    return made;
  }

 private:
  std::mutex mutex_;
  std::unordered_multimap<std::size_t, std::weak_ptr<const Constant>> known_;
};

}  // namespace

std::shared_ptr<const Constant> Constant::of(std::vector<double> values) {
  static ConstantTable table;
  if (values.size() < min_shared) return std::make_shared<const Constant>(std::move(values));
  return table.find_or_add(std::move(values));
}

const std::shared_ptr<const std::vector<float>>& Constant::elements() const {
  std::call_once(converted_, [&] {
    elements_ = std::make_shared<const std::vector<float>>(values_.begin(), values_.end());
  });
  return elements_;
}

}  // namespace parbench::general
