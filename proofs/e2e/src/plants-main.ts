// `npm run proof -- plants [NAME]...`: puts each fault of proofs/plants, or those that are named, into a
// copy of the sources, runs the proof that finds it, and fails unless the proof prints the expected violation.
// `--control` runs the same proofs without a fault, and fails unless they succeed.
import { parseArgs } from 'node:util';
import { readPlants, runProof, type Plant } from './plants.ts';

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    control: { type: 'boolean', default: false },
    limit: { type: 'string', default: '600' },
  },
});
const options = { limitSeconds: Number(values.limit) };
const all = readPlants();
const unknown = names.filter((name) => !all.some((each) => each.name === name));
if (unknown.length > 0) throw new Error(`There is no ${unknown.join(', ')} in proofs/plants.`);
const plants = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** @returns whether the proof has found the fault, and not failed for another reason */
async function isFound(fault: Plant): Promise<boolean> {
  const { lines, code, seconds } = await runProof(fault.proof, fault, options);
  const violation = lines.find((line) => fault.finds.test(line));
  const isGood = code === 1 && violation !== undefined;
  const [seed = 'every order'] = /(?<=--seed )\d+/.exec(fault.proof) ?? [];
  print(`| ${fault.name} | \`${fault.proof}\` | ${seed} | ${seconds} s | ${outcome(violation)} |`);
  if (!isGood)
    print(`${lines.slice(-40).join('\n')}\nThe proof ended with ${code ?? 'no end within the limit'}.`);
  return isGood;
}

function outcome(violation: string | undefined): string {
  return violation?.replace(/^[\s+"]+/, '').slice(0, 160) ?? 'not found';
}

async function isGreen(proof: string): Promise<boolean> {
  const { lines, code, seconds } = await runProof(proof, null, options);
  print(`| no fault | \`${proof}\` | | ${seconds} s | ${code === 0 ? 'succeeds' : 'fails'} |`);
  if (code !== 0) print(lines.slice(-40).join('\n'));
  return code === 0;
}

print('| fault | proof | seed | time | violation |\n| --- | --- | --- | --- | --- |');
let failures = 0;
if (values.control) {
  for (const proof of new Set(plants.map((each) => each.proof))) if (!(await isGreen(proof))) failures += 1;
} else {
  for (const fault of plants) if (!(await isFound(fault))) failures += 1;
}
process.exitCode = failures === 0 ? 0 : 1;
