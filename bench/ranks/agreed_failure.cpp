// Conversion between exceptions and the types that sessions distinguish.
#include "bench/ranks/agreed_failure.h"

#include <new>

#include "bench/execution/interrupt.h"
#include "bench/sampling/preparation.h"
#include "kernels/base/error.h"

namespace parbench {

using Type = AgreedFailure::Type;

AgreedFailure described(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Interrupted& error) {
    return {Type::interrupted, error.what()};
  } catch (const OutOfTime& error) {
    return {Type::out_of_time, error.what()};
  } catch (const DeviceLost& error) {
    return {Type::device_lost, error.what(), error.backend()};
  } catch (const OutOfMemory& error) {
    return {Type::out_of_memory, error.what()};
  } catch (const std::bad_alloc&) {
    return {Type::out_of_memory, "out of memory on the host; use a smaller case"};
  } catch (const UsageError& error) {
    return {Type::usage, error.what()};
  } catch (const Unsupported& error) {
    return {Type::unsupported, error.what()};
  } catch (const std::exception& error) {
    return {Type::error, error.what()};
  } catch (...) {
    return {Type::error, "an exception that is not a std::exception"};
  }
}

void throw_failure(const AgreedFailure& failure) {
  const std::string text = failure.by.empty() ? failure.text : failure.by + ": " + failure.text;
  switch (failure.type) {
    case Type::interrupted:
      throw Interrupted();
    case Type::out_of_time:
      throw OutOfTime();
    case Type::device_lost:
      throw DeviceLost(failure.backend, text);
    case Type::out_of_memory:
      throw OutOfMemory(text);
    case Type::usage:
      throw UsageError(text);
    case Type::unsupported:
      throw Unsupported(text);
    case Type::none:
    case Type::error:
      break;
  }
  throw Error(text);
}

}  // namespace parbench
