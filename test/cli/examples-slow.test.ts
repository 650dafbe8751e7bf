/** Runs the examples in help and README as a reader would type them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { JourneyStatus } from '../../src/messages/journey/shapes.ts';
import type { PullStatus } from '../../src/messages/pull/shapes.ts';
import { PRODUCTS, PULL_PRODUCTS } from '../../src/model/products.ts';
import { partsOf } from '../runbook/pages.ts';
import type { PostedInquiry } from '../support/journey-harness.ts';
import { type CommandStage, documentsOf, openCommandStage, withOwnIds } from './command-stage.ts';

let stage: CommandStage;

before(async () => {
  stage = await openCommandStage();
});
after(() => stage?.close());

/** Returns the examples in a command's help. */
async function examplesOf(command: string): Promise<string[]> {
  const { stdout } = await stage.shell.run(`credit-journey ${command} --help`, stage.env);
  const examples = stdout.replaceAll(/\\\n\s*/g, '').matchAll(/^ {2}\$ (credit-journey .*)$/gm);
  return withOwnIds([...examples].map(([, line]) => line).join('\n')).split('\n');
}

describe('each example in the help of a command works as printed', { concurrency: 4 }, () => {
  for (const command of [
    'status',
    'advance',
    'consent',
    'share',
    'holds',
    'resolve',
    'withdraw',
    'references',
    'report',
    'changes',
    'pull',
    'list',
    'setup',
  ]) {
    test(command, async () => {
      const examples = await examplesOf(command);
      assert.ok(examples.length > 0);
      for (const example of examples) {
        const ran = await stage.eventually(example);
        // Other tests' journeys may be on hold at this moment.
        const good = command === 'holds' ? [0, 3] : [0];
        assert.ok(good.includes(ran.code ?? -1), `${example}: ${ran.stderr}`);
        assert.ok(documentsOf(ran.stdout).length > 0);
      }
    });
  }
});

/** The README's command for each product. The example of SECONDUSE is in the consent system's first page. */
function productExamples(): Map<string, string> {
  const sectionOf = (page: string, title: string) => {
    const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
    return partsOf(page, new RegExp(`^## ${title}\\n([\\s\\S]*?)^## `, 'm').exec(text)?.[1] ?? '');
  };
  const commandsOf = (page: string, title: string) =>
    sectionOf(page, title)
      .blocks.map(({ script }) => script.replaceAll('npx credit-journey', 'credit-journey'))
      .join('');
  const pull = commandsOf('README.md', 'Products');
  assert.match(pull, /--product-code CR /);
  return new Map([
    ...PULL_PRODUCTS.map(
      (product) => [product, pull.replace('--product-code CR ', `--product-code ${product} `)] as const,
    ),
    ['SECONDUSE', commandsOf('docs/README.md', 'Consent system')] as const,
  ]);
}

async function postedFor(customerTraceNumber: string | undefined): Promise<string[]> {
  const posted = (await (await fetch(`${stage.harness.sandboxUrl}/_sandbox/inquiries`)).json()) as PostedInquiry[];
  const ours = posted.filter((inquiry) => inquiry.customerTraceNumber === customerTraceNumber);
  return ours.map(({ productCode }) => productCode);
}

describe('the README’s command works for each product of the gateway', { concurrency: 4 }, () => {
  const examples = productExamples();

  for (const product of PULL_PRODUCTS) {
    test(`${product}: its example in the README works`, async () => {
      const { code, stdout, stderr } = await stage.shell.run(examples.get(product) ?? '', stage.env);
      assert.equal(code, 0, stderr);
      const last = documentsOf<PullStatus>(stdout).at(-1);
      // The interface allows only `No Record` for FAILSAFE (2.8).
      assert.equal(last?.state, product === 'FAILSAFE' ? 'noRecord' : 'record');
      assert.deepEqual(await postedFor(last?.customerTraceNumber), [product]);
    });
  }

  test('SECONDUSE: its example in the README works', async () => {
    const { code, stdout, stderr } = await stage.shell.run(withOwnIds(examples.get('SECONDUSE') ?? ''), stage.env);
    assert.equal(code, 0, stderr);
    const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as JourneyStatus;
    assert.deepEqual([last.state, last.shares[0]?.state], ['completed', 'posted']);
    assert.deepEqual(await postedFor(last.shares[0]?.customerTraceNumber), ['SECONDUSE']);
  });

  test('every product has an example in the README, and every pulled product a row in docs/pulls.md', () => {
    assert.deepEqual([...examples.keys()].sort(), [...PRODUCTS].sort());
    const page = readFileSync(new URL('../../docs/pulls.md', import.meta.url), 'utf8');
    for (const product of PULL_PRODUCTS) assert.match(page, new RegExp(`^\\|.*\`${product}\``, 'm'));
  });
});
