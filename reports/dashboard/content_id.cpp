// Hashes by Boost.Uuid.
#include "reports/dashboard/content_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid.hpp>

namespace parbench::report {

std::string content_id(std::string_view bytes) {
  const boost::uuids::uuid id =
      boost::uuids::name_generator_sha1(boost::uuids::ns::oid())(bytes.data(), bytes.size());
  std::string text;
  for (const auto byte : id) text += fmt::format("{:02x}", byte);
  return text;
}

std::string file_slug(std::string_view name) {
  constexpr std::size_t longest = 40;
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (!name.empty() && name.size() <= longest && std::ranges::all_of(name, is_plain)) {
    return std::string(name);
  }
  std::string slug;
  for (const char c : name.substr(0, longest)) slug += is_plain(c) ? c : '-';
  // Names that need no hash have no underscore, so the two kinds cannot collide.
  return slug + '_' + content_id(name).substr(0, 12);
}

}  // namespace parbench::report
