#pragma once
// The quick way through the events of a profiler trace: one event of the usual form is read from
// memory in one pass. What is unusual (escapes in names, letters beyond ASCII, numbers with an
// exponent, a time that is no number, a syntax error) is not taken; the general parser
// (kineto_sax.hpp) reads those events and gives every message of a wrong file.
#include "import/kineto/kineto_collect.hpp"

namespace stepsim::io {

// Reads the object that begins at `begin`, a brace, into `event`, which is cleared before, and
// gives its end. Null where the object is not complete before `end` or not of the usual form;
// `event` then holds anything.
[[nodiscard]] const char* scan_event(const char* begin, const char* end, RawEvent& event);

} // namespace stepsim::io
