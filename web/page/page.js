// The page: controls made from the table of settings, a worker that answers, and what it answered.
// Every move asks for the step first; curve, changes and timeline follow while nothing moves.
'use strict';

(() => {
  const S = STEPSIM_SETTINGS;
  const element = id => document.getElementById(id);
  const files = JSON.parse(element('files').textContent);
  const ownTrace = element('own-trace').textContent.trim();

  const defaults = {...S.DEFAULTS};
  const workloads = S.CONTROLS.find(c => c.key === 'workload').options;
  if (ownTrace !== '') {
    const {file, trace} = JSON.parse(ownTrace);
    const name = file.replace(/(\.json)?(\.gz)?$/, '.json');
    files['/' + name] = JSON.stringify(trace);
    workloads.unshift({value: 'trace:' + name, label: name});
    defaults.workload = 'trace:' + name;
  }
  const settings = S.fromLink(location.hash, defaults);

  // Workers: one answers, one is ready to take over where the first has to be ended.
  const STOP_AFTER = 20; // ms that a move waits for the question before it
  let module = null;
  const scripts = URL.createObjectURL(new Blob([element('engine').textContent, '\n', element('worker').textContent],
    {type: 'text/javascript'}));
  function start() {
    const one = {worker: new Worker(scripts), waiting: null};
    one.worker.onmessage = ({data}) => {
      const done = one.waiting;
      one.waiting = null;
      if (done !== null) done(data.answer);
    };
    one.worker.postMessage({module, files});
    return one;
  }
  let active = null, spare = null, asked = 0;
  function ask(question) {
    return new Promise(done => {
      active.waiting = text => done(JSON.parse(text));
      active.worker.postMessage({id: ++asked, question});
    });
  }
  const pause = ms => new Promise(done => setTimeout(done, ms));
  // Ends the question that the engine works on, unless it is answered at once. The next question may
  // have begun when that is known: it goes on.
  async function freed() {
    const question = active.waiting;
    const works = () => question !== null && active.waiting === question;
    for (let waited = 0; works() && waited < STOP_AFTER; waited += 4) await pause(4);
    if (works()) {
      active.worker.terminate();
      active = spare;
      spare = start();
    }
  }

  // One round per move; a later move ends it.
  let round = 0, running = Promise.resolve();
  const results = {step: null, last_ms: 0};
  function move() {
    const mine = ++round;
    const moved = performance.now();
    show_settings();
    running = running.then(() => mine === round ? answers(mine, moved) : undefined);
    return running;
  }
  // Until nothing is asked any more.
  async function idle() {
    for (let seen = null; seen !== running;) {
      seen = running;
      await seen;
    }
  }
  // A round that is out of date gives up at its next question.
  class Stale extends Error {}
  async function question_of(mine, question) {
    let open = true;
    const answer = await Promise.race([ask(question), (async () => {
      while (open && mine === round) await pause(4);
      if (!open) return null;
      await freed();
      return null;
    })()]);
    open = false;
    if (mine !== round || answer === null) throw new Stale();
    return answer;
  }

  // Pixels that a figure has.
  const room = () => Math.max(280, Math.min(640, element('bar').clientWidth));
  let drawnFor = 0;
  onresize = () => { if (drawnFor !== 0 && room() !== drawnFor) move(); };

  async function answers(mine, moved) {
    if (active === null) return;
    const width = drawnFor = room();
    try {
      await freed();
      const scenario = JSON.stringify(S.scenario(settings));
      const refused = S.refusal(settings);
      const step = refused !== '' ? {error: refused} : await question_of(mine, {ask: 'step', scenario, width});
      show_step(step);
      results.step = step;
      keep_link();
      results.last_ms = performance.now() - moved;
      if (step.error !== undefined) return;
      await show_curve(mine, step);
      const {changes} = await question_of(mine, {ask: 'changes', scenario});
      show_changes(changes);
      const {timeline} = await question_of(mine, {ask: 'timeline', scenario, width});
      element('timeline').innerHTML = timeline;
      for (const id of ['curve', 'changes', 'timeline']) element(id).classList.remove('old');
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
    }
  }

  // What the engine answered. Figures are its own SVG; every other text is set as text.
  function show_step(step) {
    const wrong = step.error !== undefined;
    element('error').hidden = !wrong;
    element('error').textContent = wrong ? S.complaint(settings, step) : '';
    for (const id of ['answer', 'conditions', 'interval']) element(id).classList.toggle('old', wrong);
    for (const id of ['bar', 'defaults', 'warnings', 'curve', 'changes', 'timeline']) {
      element(id).classList.toggle('old', wrong || ['curve', 'changes', 'timeline'].includes(id));
    }
    if (wrong) return;
    element('answer').textContent = step.answer;
    element('conditions').textContent = S.conditionsLine(step);
    element('interval').textContent = S.intervalLine(settings, step);
    element('bar').innerHTML = step.bar;
    element('defaults').replaceChildren(...step.defaults.map(each => {
      const row = document.createElement('tr');
      for (const text of [each.pointer, JSON.stringify(each.value), each.reason]) {
        row.insertCell().textContent = text;
      }
      return row;
    }));
    element('warnings').replaceChildren(...step.warnings.map(text => item('warning: ' + text)));
  }
  function item(text) {
    const one = document.createElement('li');
    one.textContent = text;
    return one;
  }

  async function show_curve(mine, step) {
    const points = [];
    let unit = '';
    for (const nodes of S.curveNodes(settings)) {
      const point = await question_of(mine, {ask: 'point', scenario: JSON.stringify(S.scenario(settings, nodes))});
      if (point.error === undefined) {
        points.push([point.ranks, point.rate]);
        unit = point.unit;
      }
    }
    if (points.length > 1) {
      const {curve} = await question_of(mine, {ask: 'curve', points, unit, here: step.ranks, width: drawnFor});
      element('curve').innerHTML = curve;
      const largest = points[points.length - 1][0];
      if (S.curveNodes(settings).length < S.curveNodes(settings, () => '').length) {
        const note = document.createElement('p');
        note.className = 'grey note';
        note.textContent = `The curve ends at ${largest} GPUs: ${S.CONTROLS.find(c => c.note).note(settings)}`;
        element('curve').append(note);
      }
    } else {
      element('curve').textContent = 'No other number of nodes has an answer.';
    }
    element('curve').classList.remove('old');
  }

  function show_changes(changes) {
    // What conditions lose is in nobody's hand.
    const best = changes.filter(each => each.gain > 0 && !each.set.some(set => set.startsWith('/conditions/'))).slice(0, 3);
    element('changes').replaceChildren(...best.map(each => item(each.text)));
    if (best.length === 0) element('changes').replaceChildren(item('Nothing that the program tries makes the step shorter.'));
  }

  // Controls.
  function number_control(control, one) {
    const [slider, text] = [document.createElement('input'), document.createElement('input')];
    slider.type = 'range';
    slider.min = 0;
    slider.max = S.STEPS;
    slider.setAttribute('aria-label', control.label + ', slider');
    text.type = 'text';
    text.inputMode = 'decimal';
    text.id = 'set-' + control.key;
    const set = value => { settings[control.key] = value; move(); };
    const now = () => settings[control.key] === '' && control.usual ? control.usual(settings) : settings[control.key];
    slider.oninput = () => { text.value = S.atStep(control, Number(slider.value)); set(text.value); };
    // A key moves a whole number by at least one.
    slider.onkeydown = event => {
      const by = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10}[event.key];
      if (by === undefined) return;
      event.preventDefault();
      const before = now();
      let step = Number(slider.value) + 10 * by;
      if (control.whole) {
        const value = Math.min(Math.max(Number(before) + by, control.least), control.most);
        slider.value = S.stepOf(control, String(value));
        text.value = String(value);
      } else {
        slider.value = step;
        text.value = S.atStep(control, Number(slider.value));
      }
      set(text.value);
    };
    text.oninput = () => { slider.value = S.stepOf(control, text.value); set(text.value); };
    const pair = document.createElement('div');
    pair.className = 'number';
    pair.append(slider, text);
    one.append(pair);
    return () => {
      if (document.activeElement !== text) text.value = now();
      if (document.activeElement !== slider) slider.value = S.stepOf(control, now());
    };
  }
  function choice_control(control, one) {
    const select = document.createElement('select');
    select.id = 'set-' + control.key;
    for (const {value, label} of control.options) select.append(new Option(label, value));
    if (!control.options.some(option => option.value === settings[control.key])) settings[control.key] = defaults[control.key];
    select.oninput = () => {
      settings[control.key] = select.value;
      if (control.key === 'node') Object.assign(settings, {cards: '', network: 'node'}); // those of the type
      move();
    };
    one.append(select);
    return () => { select.value = settings[control.key]; };
  }
  function text_control(control, one) {
    const area = document.createElement('textarea');
    area.id = 'set-' + control.key;
    area.rows = 5;
    area.oninput = () => { settings[control.key] = area.value; move(); };
    one.append(area);
    return () => { if (document.activeElement !== area) area.value = settings[control.key]; };
  }
  const shown = [];
  function make_controls() {
    for (const control of S.CONTROLS) {
      const one = document.createElement('div');
      const label = document.createElement('label');
      label.htmlFor = 'set-' + control.key;
      label.textContent = control.label;
      one.append(label);
      const update = (control.lines ? text_control : control.options ? choice_control : number_control)(control, one);
      const note = document.createElement('p');
      note.className = 'grey note';
      one.append(note);
      element('controls').append(one);
      shown.push(() => {
        one.hidden = control.when !== undefined && !control.when(settings);
        note.textContent = control.note === undefined ? '' : control.note(settings);
        note.hidden = note.textContent === '';
        update();
      });
    }
  }

  // What follows from the settings alone.
  function show_settings() {
    shown.forEach(update => update());
    const scenario = S.scenario(settings);
    const text = JSON.stringify(scenario, null, 2) + '\n';
    element('scenario').textContent = text;
    element('command').textContent = 'stepsim run scenario.json';
    element('save').href = 'data:application/json,' + encodeURIComponent(text);
    const link = '#' + S.link(settings, defaults);
    element('link').href = link;
    const trace = scenario.workload.trace;
    element('trace-link').replaceChildren();
    if (trace !== undefined && files['/' + trace] !== undefined) {
      const save = document.createElement('a');
      save.download = trace;
      save.textContent = 'Save ' + trace;
      save.href = 'data:application/json,' + encodeURIComponent(files['/' + trace]);
      element('trace-link').append(' The scenario needs its trace beside it: ', save, '.');
    }
  }

  // The address follows once the step is there: browsers limit how often it may change.
  function keep_link() {
    try {
      history.replaceState(null, '', element('link').getAttribute('href'));
    } catch (error) { /* the link below the scenario still holds the settings */ }
  }

  // From a file:// address the clipboard of a browser may be closed: then the text is selected.
  async function copy(text, from) {
    try {
      await navigator.clipboard.writeText(text);
      element('copied').textContent = 'Copied.';
    } catch (error) {
      getSelection().selectAllChildren(from);
      element('copied').textContent = document.execCommand('copy') ? 'Copied.' : 'Selected: copy it.';
    }
  }
  element('copy').onclick = () => copy(element('scenario').textContent, element('scenario'));
  element('copy-command').onclick = () => {
    const quoted = JSON.stringify(S.scenario(settings)).replaceAll("'", "'\\''");
    element('command').textContent = `echo '${quoted}' | stepsim run -`;
    copy(element('command').textContent, element('command'));
  };
  element('controls').onsubmit = event => event.preventDefault();
  onhashchange = () => { Object.assign(settings, S.fromLink(location.hash, defaults)); move(); };

  async function main() {
    const bytes = Uint8Array.from(atob(element('wasm').textContent), c => c.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    module = await WebAssembly.compile(await new Response(unpacked).arrayBuffer());
    active = start();
    const {gpus, style} = await ask({ask: 'choices'});
    element('theme').textContent = style;
    S.CONTROLS.find(c => c.key === 'gpu').options =
      gpus.map(word => ({value: word, label: word.toUpperCase()}));
    make_controls();
    spare = start();
    await move();
  }
  window.stepsim = {settings, results, move, idle, ask, ready: main()};
  window.stepsim.ready.catch(error => { element('answer').textContent = 'The engine does not start: ' + error.message; });
})();
