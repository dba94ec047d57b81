// The engine and the settings of whatif.html in node, without a browser.
//
//   node page_in_node.js PAGE random N SEED   N random settings: a line {settings, scenario, answer, cpu_ms} each
//   node page_in_node.js PAGE settings        settings that are not the defaults as JSON Lines on standard input; a line
//                                             {scenario, answer, said, below, link} each
//   node page_in_node.js PAGE answers         questions as JSON Lines on standard input, answers in the same order
'use strict';
const fs = require('fs');
const [page, mode, count, seed] = process.argv.slice(2);
const html = fs.readFileSync(page, 'utf8');

function part(id) {
  const begin = html.indexOf('>', html.indexOf(`id="${id}"`)) + 1;
  return html.slice(begin, html.indexOf('</script>', begin));
}

const S = new Function(part('settings') + '; return STEPSIM_SETTINGS;')();
const stepsim_engine = new Function('require', '__dirname', '__filename',
  part('engine') + '; return stepsim_engine;')(require, __dirname, __filename);
const files = JSON.parse(part('files'));

// mulberry32: the same settings for the same seed everywhere.
let state = Number(seed) >>> 0;
function draw() {
  state = (state + 0x6D2B79F5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const one_of = list => list[Math.floor(draw() * list.length)];

function random_table() {
  const lines = [];
  for (let l = Math.floor(draw() * 30); l >= 0; --l) {
    lines.push(`layer${l}, ${draw() * 5}, ${draw() * 10}, ${4 * Math.floor(draw() * 3e6)}`);
  }
  return lines.join('\n');
}

function random_settings(gpus) {
  const settings = {};
  for (const control of S.CONTROLS) {
    settings[control.key] = control.lines ? random_table()
      : control.key === 'gpu' ? one_of(gpus)
      : control.key === 'node' && draw() < 0.5 ? 'own'
      : control.usual && draw() < 0.5 ? ''
      : control.options ? one_of(control.options).value : S.atStep(control, Math.floor(draw() * (S.STEPS + 1)));
  }
  return settings;
}

stepsim_engine({wasmBinary: require('zlib').gunzipSync(Buffer.from(part('wasm'), 'base64'))}).then(engine => {
  for (const [path, text] of Object.entries(files)) {
    engine.FS.mkdirTree(path.slice(0, path.lastIndexOf('/')) || '/');
    engine.FS.writeFile(path, text);
  }
  const ask = question => JSON.parse(engine.ccall('stepsim_answer', 'string', ['string'], [JSON.stringify(question)]));
  if (mode === 'answers') {
    for (const line of fs.readFileSync(0, 'utf8').split('\n')) {
      if (line !== '') fs.writeSync(1, JSON.stringify(ask(JSON.parse(line))) + '\n');
    }
    return;
  }
  if (mode === 'settings') {
    for (const line of fs.readFileSync(0, 'utf8').split('\n').filter(each => each !== '')) {
      const settings = {...S.DEFAULTS, ...JSON.parse(line)};
      const scenario = S.scenario(settings);
      const answer = ask({ask: 'step', scenario: JSON.stringify(scenario)});
      const said = answer.error === undefined ? '' : S.complaint(settings, answer);
      const below = answer.error === undefined ? [S.conditionsLine(answer), S.intervalLine(settings, answer)] : [];
      fs.writeSync(1, JSON.stringify({scenario, answer, said, below, link: S.link(settings), text: JSON.stringify(scenario)}) + '\n');
    }
    return;
  }
  const {gpus} = ask({ask: 'choices'});
  let left = Number(count);
  while (left > 0) {
    const settings = random_settings(gpus);
    if (S.refusal(settings) !== '') continue;
    --left;
    if (JSON.stringify(S.scenario(S.fromLink(S.link(settings)))) !== JSON.stringify(S.scenario(settings))) {
      throw new Error('the link loses a setting: ' + S.link(settings));
    }
    const scenario = S.scenario(settings);
    const before = process.cpuUsage();
    const answer = ask({ask: 'step', scenario: JSON.stringify(scenario)});
    const used = process.cpuUsage(before);
    fs.writeSync(1, JSON.stringify({settings, scenario, answer, cpu_ms: (used.user + used.system) / 1e3}) + '\n');
  }
});
