/**
 * The broker's guarantees (services/broker/broker.ts) as tests. An engine's test file consists of a factory and one call.
 * Differences between engines are read from `capabilities`, never inferred from a name.
 */
import { afterEach, beforeEach, describe } from 'vitest';
import { conflictGuarantees } from './broker.conflicts.ts';
import { eventGuarantees } from './broker.events.ts';
import { firstAttemptGuarantees } from './broker.first-attempts.ts';
import { journalGuarantees } from './broker.journal.ts';
import { loadGuarantees } from './broker.load.ts';
import { orderGuarantees } from './broker.order.ts';
import { delayGuarantees, parkingGuarantees } from './broker.parking.ts';
import { publisherGuarantees } from './broker.publishers.ts';
import { routingGuarantees } from './broker.routing.ts';
import { stallGuarantees } from './broker.stalls.ts';
import { recordGuarantees } from './broker.tables.ts';
import { taskGuarantees } from './broker.tasks.ts';
import { Bench, type Installation } from './broker-bench.ts';

/** Declares the tests of every guarantee for an engine. */
export function brokerContract(name: string, install: () => Promise<Installation>): void {
  describe(`the ${name} broker`, () => {
    let bench: Bench;
    beforeEach(async () => {
      bench = new Bench(await install());
    });
    afterEach(() => bench.dispose());
    const give = () => bench;
    describe('with events', () => eventGuarantees(give));
    describe('with a pure router', () => routingGuarantees(give));
    describe('with conflicts', () => conflictGuarantees(give));
    describe('with an order', () => orderGuarantees(give));
    describe('with publishers', () => publisherGuarantees(give));
    describe('with first attempts', () => firstAttemptGuarantees(give));
    describe('with tasks', () => taskGuarantees(give));
    describe('with parked tasks', () => parkingGuarantees(give));
    describe('with a clock that is moved on', () => delayGuarantees(give));
    describe('with the journal', () => journalGuarantees(give));
    describe('with the directory, the quarantine and dead letters', () => recordGuarantees(give));
    describe('with stalls', () => stallGuarantees(give));
    describe('under load', () => loadGuarantees(give));
  });
}
