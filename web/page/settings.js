// Settings of the page, the scenario that they make, and the link that holds them. Nothing here
// touches the page: tests run it in node. What a user typed goes into the scenario as it is, also
// where it is wrong: the engine's message says what is wrong with it.
'use strict';

const STEPSIM_SETTINGS = (() => {
  const choice = (value, label) => ({value, label});
  const MODELS = [
    choice('resnet50', 'ResNet-50'), choice('vgg16', 'VGG-16'), choice('bert_large', 'BERT large'),
    choice('gpt2', 'GPT-2'), choice('gpt2_xl', 'GPT-2 XL'), choice('llama3_8b', 'Llama 3 8B')];
  // Traces lie beside scenario.json, here as for the command. What a trace does not say: its samples.
  const TRACES = [
    choice('resnet50.1gpu.json', 'ResNet-50, measured on a V100, 32 images'),
    choice('resnet50.ddp.2xa100.json', 'ResNet-50, measured on an A100')];
  const TRACE_SAMPLES = {'resnet50.1gpu.json': 32};
  const LARGE = ['llama3_8b']; // places of its gradients need more than 4 bytes
  const CONVOLUTIONAL = ['resnet50', 'vgg16']; // their estimate must be accepted
  const NETWORKS = [
    choice('1g-tcp', '1 Gb Ethernet, TCP'), choice('10g-tcp', '10 Gb Ethernet, TCP'),
    choice('25g-tcp', '25 Gb Ethernet, TCP'), choice('25g-roce', '25 Gb RoCE'),
    choice('100g-tcp', '100 Gb Ethernet, TCP'), choice('100g-roce', '100 Gb RoCE'),
    choice('200g-ib', '200 Gb InfiniBand'), choice('400g-ib', '400 Gb InfiniBand')];
  const INSIDE = [
    choice('nvlink-v100', 'NVLink of V100'), choice('nvlink-a100', 'NVLink of A100'),
    choice('nvlink-h100', 'NVLink of H100'), choice('xgmi-mi300x', 'xGMI of MI300X'),
    choice('pcie3', 'PCIe 3'), choice('pcie4', 'PCIe 4')];
  const OWN = 'own', OF_NODE = 'node';
  const TRANSPORTS = [
    choice('', 'as the network says; own numbers: TCP'), choice('rdma', 'RDMA'), choice('tcp', 'TCP'),
    choice('tcp_cloud', 'TCP between rented machines')];
  const CONDITIONS = [
    choice('typical', 'typical: with what real runs lose'), choice('ideal', 'ideal: nothing is lost')];
  const NODES = [/*node types*/]; // {value, label, gpus, cards}, from topologies/nodes
  const SCHEDULES = [
    choice('', 'as PyTorch DDP does (default)'), choice('ddp', 'DDP buckets of 25 MiB'),
    choice('wfbp', 'every gradient at once (WFBP)'), choice('single', 'one message'),
    choice('horovod', 'Horovod'), choice('mg_wfbp', 'MG-WFBP'), choice('optimal', 'best merge'),
    choice('dear', 'DeAR')];
  const COLLECTIVES = [
    choice('', 'library of the node type, else rings (default)'), choice('ring', 'ring over all GPUs'), choice('double_binary_tree', 'double binary tree'),
    choice('hierarchical', 'hierarchical'),
    choice('auto', 'the fastest of all')];
  const COMPRESSIONS = [
    choice('none', 'none'), choice('fp16', '16 bits (fp16)'), choice('quantize8', '8 bits'),
    choice('topk', '1 % of the values (top-k)'), choice('powersgd', 'PowerSGD, rank 4')];
  // GPUs up to which the page answers in time. Messages of several GPUs of a node that wait for its
  // network card are played one by one, unless the collective knows the node (hierarchical).
  const nodeOf = s => NODES.find(n => n.value === s.node);
  const gpusOf = s => nodeOf(s) ? nodeOf(s).gpus : number(s.gpus);
  const several = s => gpusOf(s) !== 1;
  // Cards of a node that a scenario does not say: those of its type, at most one a GPU; of an own
  // node one a GPU, where the collective can use several.
  const oneCard = s => ['ring', 'double_binary_tree'].includes(s.collective) || ['topk', 'powersgd'].includes(s.compression);
  const usualCards = s => !several(s) || oneCard(s) ? '1' : nodeOf(s) ? String(Math.min(nodeOf(s).cards, nodeOf(s).gpus)) : s.gpus;
  const cardsOf = s => s.cards === '' ? usualCards(s) : s.cards;
  const planned = s => s.schedule === 'optimal' && s.conditions === 'typical' && ['auto', 'double_binary_tree'].includes(s.collective);
  const MOST = [
    {most: 2, words: 'the best merge with this collective on nodes of several GPUs, under typical conditions', when: s => planned(s) && several(s)},
    {most: 64, words: 'the fastest collective', when: s => s.collective === 'auto' && !several(s)},
    {most: 8, words: 'the fastest collective on nodes of several GPUs', when: s => s.collective === 'auto' && several(s)},
    {most: 8, words: 'a double binary tree on nodes of several GPUs',
      when: s => s.collective === 'double_binary_tree' && several(s)},
    {most: 16, words: 'a ring over all GPUs on nodes of several', when: s => s.collective === 'ring' && several(s)},
    {most: 8, words: 'top-k on nodes of several GPUs', when: s => s.compression === 'topk' && several(s)},
    {most: 8, words: 'PowerSGD on nodes of several GPUs', when: s => s.compression === 'powersgd' && several(s)}];
  // What stands below the controls while one of the limits counts.
  function limits(s) {
    const now = MOST.filter(each => each.when(s)).map(each => `${each.words}: up to ${each.most} GPUs`);
    return now.length === 0 ? '' : 'Answered here at once: ' + now.join('; ') + '. Beyond that every message is played one by'
      + ' one, which takes seconds to minutes; stepsim run does it.' + (several(s) && !['topk', 'powersgd'].includes(s.compression) ? ' A hierarchical collective has no limit.' : '');
  }

  // `when`: the settings for which a control counts; others are not shown. `at`: the key of the
  // scenario that it sets, `unit`: what that key counts in where the control has another unit.
  const isModel = s => s.workload.startsWith('model:');
  const isTrace = s => s.workload.startsWith('trace:');
  const CONTROLS = [
    {key: 'workload', label: 'Model', at: '/workload', options: TRACES.map(t => choice('trace:' + t.value, t.label))
      .concat(MODELS.map(m => choice('model:' + m.value, m.label + ', estimated')), choice('table', 'own layers'))},
    {key: 'gpu', label: 'GPU', at: '/workload/gpu', options: [], when: isModel},
    {key: 'table', label: 'Layers, one a line: name, forward ms, backward ms, gradient bytes', at: '/workload/layers', unit: 'seconds', lines: true,
      when: s => s.workload === 'table'},
    {key: 'batch', label: 'Samples per GPU and step', at: '/workload/batch_size', least: 1, most: 512, log: true, whole: true,
      when: s => !isTrace(s)},
    {key: 'node', label: 'Node type', at: '/cluster/preset', options: [choice(OWN, 'own: GPUs and links as below')].concat(NODES)},
    {key: 'gpus', label: 'GPUs per node', at: '/cluster/gpus_per_node', least: 1, most: 8, whole: true, when: s => !nodeOf(s)},
    {key: 'inside', label: 'Links inside a node', at: '/cluster/intra_network', options: INSIDE, when: s => !nodeOf(s) && several(s)},
    {key: 'cards', label: 'Network cards per node', at: '/cluster/nics_per_node', least: 1, most: 8, whole: true, usual: usualCards, when: several},
    {key: 'network', label: 'Network between nodes', at: '/cluster/network',
      options: [choice(OF_NODE, 'of the node type, else 25 Gb')].concat(NETWORKS, choice('own', 'own numbers'))},
    {key: 'bandwidth', label: 'Bandwidth of a card, Gb/s', at: '/cluster/network/bandwidth_Bps', unit: 'bytes/s', least: 0.1, most: 800, log: true,
      when: s => s.network === 'own'},
    {key: 'latency', label: 'Latency of a message, µs', at: '/cluster/network/latency_s', unit: 'seconds', least: 1, most: 1000, log: true,
      when: s => s.network === 'own'},
    {key: 'transport', label: 'Who moves the bytes between nodes', at: '/cluster/network/transport', options: TRANSPORTS,
      when: s => s.conditions === 'typical', inLink: true},
    {key: 'collective', label: 'Collective', at: '/communication/collective', options: COLLECTIVES},
    {key: 'schedule', label: 'When gradients are sent', at: '/communication/schedule', options: SCHEDULES},
    {key: 'compression', label: 'Compression', at: '/communication/compression', options: COMPRESSIONS, note: limits},
    {key: 'nodes', label: 'Nodes', at: '/cluster/nodes', least: 1, most: 1024, log: true, whole: true},
    {key: 'conditions', label: 'Conditions', at: '/conditions', options: CONDITIONS, inLink: true}];
  const DEFAULTS = {
    workload: 'trace:' + TRACES[0].value, gpu: 'a100-80', batch: '32', nodes: '8', node: OWN, gpus: '1', inside: 'nvlink-a100',
    cards: '', network: OF_NODE, bandwidth: '25', latency: '10', conditions: 'typical', transport: '', schedule: '', collective: '', compression: 'none',
    table: 'conv, 4, 8, 6000000\ndense, 2, 4, 90000000'};

  // A number as typed, times 10 to the power; the text itself where it is none. The point moves in
  // the decimal digits: 50 * 1e-6 is not the number that 0.00005 reads as.
  function number(text, power = 0) {
    const value = text.trim() === '' ? NaN : Number(text);
    if (!Number.isFinite(value)) return text;
    const [digits, exponent] = value.toExponential().split('e');
    return Number(digits + 'e' + (Number(exponent) + power));
  }

  function layers(table) {
    return table.split('\n').filter(line => line.trim() !== '').map(line => {
      const cells = line.split(/[,;\t]/).map(cell => cell.trim());
      const layer = {name: cells[0]};
      if (cells.length > 1) layer.forward_s = number(cells[1], -3);
      if (cells.length > 2) layer.backward_s = number(cells[2], -3);
      if (cells.length > 3) layer.gradient_bytes = number(cells[3]);
      return layer;
    });
  }

  function workload(s) {
    if (isTrace(s)) {
      const trace = s.workload.slice('trace:'.length);
      return trace in TRACE_SAMPLES ? {trace, batch_size: TRACE_SAMPLES[trace]} : {trace};
    }
    if (s.workload === 'table') return {layers: layers(s.table), batch_size: number(s.batch)};
    const model = s.workload.slice('model:'.length);
    const out = {model, gpu: s.gpu, batch_size: number(s.batch)};
    return CONVOLUTIONAL.includes(model) ? {...out, accept_estimate: true} : out;
  }

  function compression(word, s) {
    const wide = LARGE.some(name => s.workload === 'model:' + name) ? {index_bytes: 8} : {};
    return word === 'topk' ? {method: word, density: 0.01, ...wide}
      : word === 'powersgd' ? {method: word, rank: 4} : {method: word};
  }

  // The network that a profile or the numbers describe, with another transport where one is chosen;
  // undefined where a node type has its own.
  function network(s) {
    const bits = number(s.bandwidth, 9);
    const given = s.network === OWN ? {latency_s: number(s.latency, -6), bandwidth_Bps: typeof bits === 'number' ? bits / 8 : bits}
      : s.network !== OF_NODE ? s.network : nodeOf(s) ? undefined : '25g-tcp';
    const transport = s.conditions !== 'typical' ? '' : s.transport || (s.network === OWN ? 'tcp' : '');
    if (transport === '') return given;
    return {...(typeof given === 'string' ? {calibration: given} : given), transport};
  }

  // The scenario of the settings, with another number of nodes where one is given.
  function scenario(s, nodes) {
    const cluster = {nodes: nodes === undefined ? number(s.nodes) : nodes};
    if (nodeOf(s)) cluster.preset = s.node;
    else if (several(s)) {
      cluster.gpus_per_node = number(s.gpus);
      cluster.intra_network = s.inside;
    }
    if (several(s) && !(s.cards === '' && oneCard(s))) cluster.nics_per_node = number(cardsOf(s));
    const between = network(s);
    if (between !== undefined) cluster.network = between;
    const communication = {};
    if (s.schedule !== '') communication.schedule = s.schedule;
    if (s.collective !== '') communication.collective = s.collective;
    else if (!nodeOf(s) || s.compression !== 'none') { // else the library of the node type
      communication.collective = several(s) ? 'hierarchical' : 'ring';
    }
    if (s.compression !== 'none') communication.compression = compression(s.compression, s);
    return {schema_version: 1, kind: 'scenario', conditions: s.conditions, workload: workload(s), cluster, communication};
  }

  // Why the page does not ask the engine; '' where it does.
  function refusal(s, nodes = number(s.nodes)) {
    const ranks = nodes * gpusOf(s);
    const limit = MOST.find(each => each.when(s) && ranks > each.most);
    return limit === undefined ? ''
      : `The page answers ${limit.words} for up to ${limit.most} GPUs, and these are ${ranks}.`
        + ' The command below answers it, too, and takes seconds to minutes.';
  }

  // The name of the control that sets a key of the scenario, or of a part of it.
  function named(s, pointer) {
    const control = CONTROLS.filter(c => (!c.when || c.when(s)) && (pointer + '/').startsWith(c.at + '/'))
      .sort((a, b) => b.at.length - a.at.length)[0];
    if (control === undefined) return '';
    const line = control.lines ? pointer.match(/^\/workload\/layers\/(\d+)/) : null;
    return control.label.split(line ? ',' : '\n')[0] + (line ? `, line ${Number(line[1]) + 1}` : '')
      + (control.unit && !pointer.endsWith('bytes') ? ` (the message is in ${control.unit})` : '');
  }
  // What is wrong, in the words of the controls.
  function complaint(s, answer) {
    return answer.problems === undefined || answer.problems.length === 0 ? answer.error
      : answer.problems.map(({pointer, message}) => [named(s, pointer),
        message.replace(/\/(?:conditions|workload|cluster|communication)(?:\/\w+)*/g, key => named(s, key) || key)]
        .filter(word => word !== '').join(': ')).join('\n');
  }

  // Which conditions hold, and what the interval of the answer is; '' where it has none.
  const conditionsLine = step => `Conditions ${step.conditions}.`;
  function intervalLine(s, step) {
    const whose = s.conditions === 'typical' ? '80 % of real runs lie in the interval' : 'The interval is that of the prediction';
    return step.interval === '' ? '' : `${whose}; most of it: ${step.interval}.`;
  }

  // Numbers of nodes on the curve: powers of two and the scenario's own, where none is refused.
  function curveNodes(s, refused = refusal) {
    const nodes = [];
    for (let n = 1; n <= 1024; n *= 2) nodes.push(n);
    const own = number(s.nodes);
    if (Number.isInteger(own) && own >= 1 && own <= 1024 && !nodes.includes(own)) nodes.push(own);
    return nodes.sort((a, b) => a - b).filter(n => refused(s, n) === '');
  }

  // What differs from the defaults, as the part of a link behind #. Conditions and transport are in
  // every link, because they decide the answer most.
  function link(s, defaults = DEFAULTS) {
    return CONTROLS.filter(c => (c.inLink || s[c.key] !== defaults[c.key]) && (!c.when || c.when(s)))
      .map(c => c.key + '=' + encodeURIComponent(s[c.key])).join('&');
  }
  function fromLink(text, defaults = DEFAULTS) {
    const s = {...defaults};
    for (const part of text.replace(/^#/, '').split('&')) {
      const [key, value] = part.split('=', 2);
      if (key in s && value !== undefined) {
        try { s[key] = decodeURIComponent(value); } catch (error) { /* a link cut off in the middle */ }
      }
    }
    return s;
  }

  // A slider has 0 to 1000 steps between the least and the most value.
  const STEPS = 1000;
  function atStep(control, step) {
    const share = step / STEPS;
    const value = control.log ? control.least * (control.most / control.least) ** share
      : control.least + (control.most - control.least) * share;
    return String(control.whole ? Math.round(value) : Number(value.toPrecision(3)));
  }
  function stepOf(control, text) {
    const value = Math.min(Math.max(Number(text) || control.least, control.least), control.most);
    return Math.round(STEPS * (control.log ? Math.log(value / control.least) / Math.log(control.most / control.least)
      : (value - control.least) / (control.most - control.least)));
  }

  return {complaint, conditionsLine, intervalLine, CONTROLS, DEFAULTS, MODELS, NETWORKS, INSIDE, STEPS, scenario, refusal, curveNodes, link, fromLink, atStep, stepOf};
})();
if (typeof module !== 'undefined') module.exports = STEPSIM_SETTINGS;
