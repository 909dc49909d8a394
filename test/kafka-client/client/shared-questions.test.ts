/**
 * Guarantee: what is compared with an answer of the brokers is older than the question, although the partitions of a
 * rebalance share one question.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { SharedQuestions } from '../../../services/kafka-client/client/shared-questions.ts';

function questionsToAHangingBroker() {
  const questions = new SharedQuestions();
  const answers: ((answer: number) => void)[] = [];
  const ask = (name = 'bounds') =>
    questions.ask(name, () => new Promise<number>((resolve) => void answers.push(resolve)));
  return { ask, answers };
}

it('callers of one moment share a question, by its name', async () => {
  const { ask, answers } = questionsToAHangingBroker();
  const first = ask();
  const second = Promise.resolve().then(() => ask());
  const other = ask('commits');
  await turn();
  expect(answers).toHaveLength(2);
  answers[0]?.(1914);
  answers[1]?.(1928);
  expect(await Promise.all([first, second, other])).toEqual([1914, 1914, 1928]);
});

it('a question that is under way is not shared with later callers, and may be answered after theirs', async () => {
  const { ask, answers } = questionsToAHangingBroker();
  const early = ask();
  await turn();
  const late = ask();
  await turn();
  expect(answers).toHaveLength(2);
  answers[1]?.(1928);
  expect(await late).toBe(1928);
  answers[0]?.(1914);
  expect(await early).toBe(1914);
});

it('a failed question does not fail the next one', async () => {
  const questions = new SharedQuestions();
  await expect(questions.ask('bounds', () => Promise.reject(new Error('late')))).rejects.toThrow('late');
  expect(await questions.ask('bounds', async () => 3)).toBe(3);
});
