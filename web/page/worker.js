// In the worker, behind the engine: one question after the other. A question that takes too long is
// ended by ending the worker.
'use strict';
let engine = null;
const questions = [];

function answer({id, question}) {
  postMessage({id, answer: engine.ccall('stepsim_answer', 'string', ['string'], [JSON.stringify(question)])});
}

onmessage = event => {
  if (event.data.module === undefined) {
    engine === null ? questions.push(event.data) : answer(event.data);
    return;
  }
  const {module, files} = event.data;
  stepsim_engine({
    instantiateWasm: (imports, done) => {
      WebAssembly.instantiate(module, imports).then(instance => done(instance, module));
      return {};
    },
  }).then(ready => {
    for (const [path, text] of Object.entries(files)) {
      ready.FS.mkdirTree(path.slice(0, path.lastIndexOf('/')) || '/');
      ready.FS.writeFile(path, text);
    }
    engine = ready;
    questions.splice(0).forEach(answer);
  });
};
