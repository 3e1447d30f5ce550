// Positions of windows, and the elements that their taps read: slices of the padded input.
#include "scenarios/models/onnx/general/windows.h"

#include <fmt/format.h>

#include "scenarios/models/onnx/general/indexing.h"

namespace parbench::onnx_import {

Integers of_rank(const Arguments& arguments, std::string_view name, std::size_t rank,
                 std::int64_t fallback) {
  Integers values = arguments.integer_list(name, Integers(rank, fallback));
  refuse_if(values.size() != rank || std::ranges::any_of(values, [](auto one) { return one < 0; }),
            fmt::format("its {} do not fit its input", name));
  refuse_if(std::ranges::any_of(values, [](auto one) { return one > max_extent; }),
            fmt::format("its {} are larger than any image", name));
  return values;
}

void check_kernel(const Integers& kernel) {
  const auto is_side = [](std::int64_t side) { return side >= 1 && side <= max_extent; };
  refuse_if(!std::ranges::all_of(kernel, is_side), "its window is empty, or larger than any image");
}

Windows windows_of(const Arguments& arguments, const Integers& image, Integers kernel) {
  const std::size_t rank = image.size();
  Windows windows{.kernel = std::move(kernel),
                  .strides = of_rank(arguments, "strides", rank, 1),
                  .dilations = of_rank(arguments, "dilations", rank, 1),
                  .front = Integers(rank, 0),
                  .back = Integers(rank, 0),
                  .results = Integers(rank, 0)};
  refuse_if(windows.kernel.size() != rank, "its kernel does not fit its input");
  check_kernel(windows.kernel);
  const Integers pads = of_rank(arguments, "pads", 2 * rank, 0);
  const std::string automatic = arguments.text("auto_pad", "NOTSET");
  const bool is_same = automatic.starts_with("SAME");
  for (std::size_t d = 0; d < rank; ++d) {
    refuse_if(windows.strides[d] < 1, "it has a stride of 0");
    if (automatic == "NOTSET" || automatic.empty()) {
      windows.front[d] = pads[d];
      windows.back[d] = pads[rank + d];
    } else if (is_same) {
      const std::int64_t count = (image[d] + windows.strides[d] - 1) / windows.strides[d];
      const std::int64_t needed = (count - 1) * windows.strides[d] + windows.reach(d) - image[d];
      const std::int64_t total = std::max(needed, std::int64_t{0});
      windows.front[d] = automatic == "SAME_LOWER" ? total - total / 2 : total / 2;
      windows.back[d] = total - windows.front[d];
    }
    const bool rounds_up = arguments.flag("ceil_mode", false);
    const std::int64_t room = image[d] + windows.front[d] + windows.back[d] - windows.reach(d);
    refuse_if(room < 0 && !rounds_up, "its window is larger than its input");
    windows.results[d] = room < 0 ? 1 : room / windows.strides[d] + 1;
    if (room > 0 && rounds_up && room % windows.strides[d] != 0) {
      const std::int64_t start = windows.results[d] * windows.strides[d];
      if (start < image[d] + windows.front[d]) ++windows.results[d];
    }
  }
  return windows;
}

Integers image_of(const Extents& shape) {
  refuse_if(shape.size() < 3, "its input has no dimensions to move over");
  Integers image;
  for (std::size_t d = 2; d < shape.size(); ++d) {
    refuse_if(shape[d].samples, "its window moves over the samples");
    refuse_if(shape[d].size > max_extent, "its input is larger than any image");
    image.push_back(shape[d].size);
  }
  return image;
}

std::optional<Window> square_window(const Windows& windows, const Integers& image,
                                    bool has_trailing) {
  const auto alike = [](const Integers& values) { return values[0] == values[1]; };
  if (windows.rank() != 2 || !alike(windows.kernel) || !alike(windows.strides) ||
      !alike(windows.dilations) || !alike(windows.front)) {
    return std::nullopt;
  }
  Window window{.kernel = windows.kernel[0],
                .stride = windows.strides[0],
                .padding = windows.front[0],
                .dilation = windows.dilations[0]};
  if (has_trailing && window.dilation > 1) return std::nullopt;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t needed =
        (windows.results[d] - 1) * window.stride + windows.reach(d) - image[d] - window.padding;
    window.trailing = std::max(window.trailing, needed - window.padding);
  }
  if (window.trailing > 0 && !has_trailing) return std::nullopt;
  if (window.padding >= window.kernel && has_trailing) return std::nullopt;
  for (std::size_t d = 0; d < 2; ++d) {
    if (window.positions(image[d]) != windows.results[d]) return std::nullopt;
  }
  return window;
}

// --- taps ---

Term padded(Term x, const Windows& windows, float value) {
  Extents to = x.shape();
  Integers starts(to.size(), 0);
  for (std::size_t d = 0; d < windows.rank(); ++d) {
    starts[d + 2] = windows.front[d];
    const std::int64_t read = (windows.results[d] - 1) * windows.strides[d] + windows.reach(d);
    to[d + 2].size = std::max(read, windows.front[d] + to[d + 2].size);
  }
  return x.place(starts, to, value);
}

std::vector<Integers> taps_of(const Windows& windows) {
  std::vector<Integers> taps;
  Integers at(windows.rank(), 0);
  for (std::int64_t i = 0; i < windows.taps(); ++i) {
    taps.push_back(at);
    for (std::size_t d = windows.rank(); d-- > 0;) {
      if (++at[d] < windows.kernel[d]) break;
      at[d] = 0;
    }
  }
  return taps;
}

Term read_by_tap(Term x, const Windows& windows, const Integers& tap) {
  Extents to = x.shape();
  Integers starts(to.size(), 0);
  Integers steps(to.size(), 1);
  for (std::size_t d = 0; d < windows.rank(); ++d) {
    starts[d + 2] = tap[d] * windows.dilations[d];
    steps[d + 2] = windows.strides[d];
    to[d + 2] = {.size = windows.results[d]};
  }
  return {x.graph, x.graph->slice(x, starts, steps, to)};
}

void check_taps(const Windows& windows) {
  constexpr std::int64_t max_taps = 1024;
  refuse_if(windows.taps() > max_taps, fmt::format("its window has more than {} taps", max_taps));
}

Term over_taps(Term x, const Windows& windows, ElementOp op) {
  check_taps(windows);
  const std::vector<Integers> taps = taps_of(windows);
  Term result = read_by_tap(x, windows, taps.front());
  for (std::size_t i = 1; i < taps.size(); ++i) {
    result = result.apply(op, read_by_tap(x, windows, taps[i]));
  }
  return result;
}

}  // namespace parbench::onnx_import
