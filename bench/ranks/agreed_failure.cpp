// The types that sessions distinguish.
#include "bench/ranks/agreed_failure.h"

#include <new>

#include "bench/execution/interrupt.h"
#include "bench/ranks/control/frames.h"
#include "bench/sampling/preparation.h"
#include "kernels/base/error.h"

namespace parbench {
namespace {

enum class FailureType : std::uint64_t {
  error,
  usage,
  unsupported,
  out_of_memory,
  device_lost,
  interrupted,
  out_of_time
};

struct Failure {
  FailureType type = FailureType::error;
  std::string text;
  std::string backend = {};
};

Failure described(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Interrupted& error) {
    return {FailureType::interrupted, error.what()};
  } catch (const OutOfTime& error) {
    return {FailureType::out_of_time, error.what()};
  } catch (const DeviceLost& error) {
    return {FailureType::device_lost, error.what(), error.backend()};
  } catch (const OutOfMemory& error) {
    return {FailureType::out_of_memory, error.what()};
  } catch (const std::bad_alloc&) {
    return {FailureType::out_of_memory, "out of memory on the host; use a smaller case"};
  } catch (const UsageError& error) {
    return {FailureType::usage, error.what()};
  } catch (const Unsupported& error) {
    return {FailureType::unsupported, error.what()};
  } catch (const std::exception& error) {
    return {FailureType::error, error.what()};
  } catch (...) {
    return {FailureType::error, "an exception that is not a std::exception"};
  }
}

}  // namespace

std::string encoded_failure(const std::exception_ptr& failure) {
  const Failure known = described(failure);
  std::string payload;
  append_number(payload, static_cast<std::uint64_t>(known.type));
  append_text(payload, known.text);
  append_text(payload, known.backend);
  return payload;
}

void throw_failure(const std::string& encoded, const std::string& by) {
  PayloadReader reader(encoded);
  const auto type = static_cast<FailureType>(reader.number());
  const std::string said = reader.text();
  const std::string text = by.empty() ? said : by + ": " + said;
  switch (type) {
    case FailureType::interrupted:
      throw Interrupted();
    case FailureType::out_of_time:
      throw OutOfTime();
    case FailureType::device_lost:
      throw DeviceLost(reader.text(), text);
    case FailureType::out_of_memory:
      throw OutOfMemory(text);
    case FailureType::usage:
      throw UsageError(text);
    case FailureType::unsupported:
      throw Unsupported(text);
    case FailureType::error:
      break;
  }
  throw Error(text);
}

std::string text_of_failure(const std::exception_ptr& failure) { return described(failure).text; }

}  // namespace parbench
