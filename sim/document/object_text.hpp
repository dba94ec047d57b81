#pragma once
// Writes a large JSON object as text member by member, so that neither its tree nor its text is in
// memory as a whole: the bytes are those of pretty() of the whole tree (json_text.hpp).
#include <cstddef>
#include <functional>

#include "document/json.hpp"

namespace stepsim::io {

class ObjectText {
public:
  // `sink` gets the text in blocks of about 64 KiB.
  explicit ObjectText(std::function<void(std::string_view)> sink) : sink_(std::move(sink)) {}

  // Keys ascend and are unique (asserted). Throws SimulationError for a number that is not finite,
  // whose pointer is told from `value` on.
  void member(std::string_view key, const Json& value);
  // The same, but what stands at `list.pointer` below `value` is replaced by that list. Nothing is
  // replaced if `value` has nothing there.
  struct ListBelow {
    std::string_view pointer; // through objects, "/workload/layers"
    std::size_t size{};
    std::function<Json(std::size_t)> element;
  };
  void member(std::string_view key, const Json& value, const ListBelow& list);
  // A list of `size` elements, each of which is made when it is written.
  void list(std::string_view key, std::size_t size,
            const std::function<Json(std::size_t)>& element);
  void end(); // at least one member was written (asserted)

private:
  void begin_member(std::string_view key);
  void append(const Json& value, std::size_t depth);
  void append_object(const Object& object, std::size_t depth, std::string_view pointer,
                     const ListBelow* list);
  void append_list(std::size_t size, const std::function<void(std::size_t)>& append_element,
                   std::size_t depth);
  void pass_on(std::size_t most);

  std::function<void(std::string_view)> sink_;
  std::string text_; // not passed on yet
  std::string last_key_;
  bool empty_ = true;
};

} // namespace stepsim::io
