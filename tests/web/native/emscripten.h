#pragma once
// Stands in for emscripten's header where the page's engine is built natively.
#define EMSCRIPTEN_KEEPALIVE
