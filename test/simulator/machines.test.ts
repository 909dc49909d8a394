/**
 * The state machines allow the steps of the platform and refuse others with the legal ones; they have exactly the
 * states of the specification.
 */
import { expect, test } from 'vitest';
import { SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import { MACHINES, START } from '../../services/domain/catalog/machines.ts';
import { type Move, World } from '../../simulator/machines/world.ts';

const onRamp = (subType: string, status?: string): Move => ({
  type: 'fiatToCrypto',
  subType,
  status,
  process: 'tx',
});
const entity = (type: string, subType: string): Move => ({ type, subType, process: 'entity' });

function play(world: World, moves: readonly Move[]): void {
  for (const move of moves) {
    expect(world.refusal(move), `${move.type}/${move.subType}`).toBeUndefined();
    world.apply(move);
  }
}

test.each(Object.entries(MACHINES))(
  'every step of %s leads to a reachable state of the table',
  (_, table) => {
    const reached = new Set([START]);
    for (const state of reached) for (const next of table[state] ?? []) reached.add(next);
    expect([...reached].sort()).toEqual(Object.keys(table).sort());
  },
);

test.each(['fiatToCrypto', 'cryptoToFiat', 'KYC', 'KYB', 'AML', 'entityStatusUpdate'] as const)(
  'the states of %s are the catalogue’s subTypes',
  (type) => {
    const states = Object.keys(MACHINES[type] ?? {}).filter((state) => state !== START);
    expect(states.sort()).toEqual([...SUB_TYPES[type]].sort());
  },
);

test('an illegal step is refused with the legal ones', () => {
  const world = new World();
  play(world, [onRamp('PENDING'), onRamp('IN_PROGRESS')]);
  expect(world.refusal(onRamp('SUCCESS'))).toMatchObject({
    from: 'IN_PROGRESS',
    to: 'SUCCESS',
    legal: ['CRYPTO_TRANSFER_ISSUED', 'ON_HOLD', 'FAILED'],
  });
});

test('two transactions have states of their own', () => {
  const world = new World();
  play(world, [onRamp('PENDING'), { ...onRamp('PENDING'), process: 'other' }, onRamp('IN_PROGRESS')]);
  expect(world.refusal({ ...onRamp('CRYPTO_TRANSFER_ISSUED'), process: 'other' })).toBeDefined();
});

test('a KYC hold ends with FULL_USER, not before', () => {
  const world = new World();
  world.place('KYC', 'entity', 'KYC_PENDING');
  play(world, [onRamp('PENDING'), onRamp('ON_HOLD', 'ON_HOLD_KYC')]);
  expect(world.refusal(onRamp('IN_PROGRESS'))).toMatchObject({ legal: ['REFUNDED', 'FAILED'] });
  play(world, [entity('KYC', 'FULL_USER'), onRamp('IN_PROGRESS')]);
});

test('the KYC hold of a corporate ends with KYB/ACTIVE', () => {
  const world = new World();
  world.place('KYB', 'entity', 'KYB_PENDING');
  play(world, [onRamp('PENDING'), onRamp('ON_HOLD', 'ON_HOLD_KYC')]);
  expect(world.refusal(onRamp('IN_PROGRESS'))?.reason).toContain('KYB/ACTIVE has to come first');
  play(world, [entity('KYB', 'ACTIVE'), onRamp('IN_PROGRESS')]);
});

test.each([
  ['KYC', 'FULL_USER', 'ON_HOLD_PROCESS'],
  ['KYB', 'ACTIVE', 'ON_HOLD_PROCESS'],
  ['KYC', 'SUSPENDED', 'ON_HOLD_PROCESS'],
  ['KYC', 'KYC_NEEDED', 'ON_HOLD_KYC'],
  ['KYB', 'CREATED', 'ON_HOLD_KYC'],
])('the transaction of an entity that is %s/%s is held as %s', (type, state, hold) => {
  const world = new World();
  world.place(type, 'entity', state);
  expect(world.holdNow()).toBe(hold);
});

test('no hold of a verified entity waits for a verification', () => {
  const world = new World();
  world.place('KYC', 'entity', 'FULL_USER');
  play(world, [onRamp('PENDING'), onRamp('ON_HOLD', 'ON_HOLD_KYC'), onRamp('IN_PROGRESS')]);
});

test('an AML hold can be released without an event of the entity', () => {
  play(new World(), [onRamp('PENDING'), onRamp('ON_HOLD', 'ON_HOLD_PROCESS'), onRamp('IN_PROGRESS')]);
});

test.each([entity('entityStatusUpdate', 'BLOCKED'), entity('KYC', 'SUSPENDED')])(
  'while the entity is barred by $subType its transactions can only be held, fail or be refunded',
  (bar) => {
    const world = new World();
    world.place('KYC', 'entity', 'FULL_USER');
    play(world, [onRamp('PENDING'), bar]);
    expect(world.refusal(onRamp('IN_PROGRESS'))).toMatchObject({ legal: ['ON_HOLD', 'FAILED'] });
    play(world, [onRamp('ON_HOLD', 'ON_HOLD_PROCESS')]);
    expect(world.refusal(onRamp('IN_PROGRESS'))).toMatchObject({ legal: ['REFUNDED', 'FAILED'] });
  },
);

const link = (status: string): Move => ({
  type: 'linkBankAccount',
  subType: 'statusUpdate',
  status,
  process: 'link',
});

test.each(['PENDING', 'CHECK_COMPLETED', 'ACTIVE', 'FAILED', 'DISABLED'])(
  'a linked bank account that is %s can become any other of ACTIVE, FAILED and DISABLED',
  (before) => {
    for (const after of ['ACTIVE', 'FAILED', 'DISABLED'].filter((state) => state !== before)) {
      const world = new World();
      world.place('linkBankAccount', 'link', before);
      play(world, [link(after)]);
    }
  },
);

test.each([
  ['entityStatusUpdate', 'BLOCKED'],
  ['KYC', 'SUSPENDED'],
] as const)('an entity that is %s %s at first has no on-ramp, off-ramp or update', (type, state) => {
  const world = new World();
  world.place('KYC', 'entity', 'FULL_USER');
  world.place(type, 'entity', state);
  const offRamp = (subType: string) => ({ ...onRamp(subType), type: 'cryptoToFiat' });
  const ledger = { ...link('WAITING_CREATION'), type: 'serviceBankAccount' };
  const moves = [
    onRamp('PENDING'),
    offRamp('PENDING'),
    offRamp('LIMIT_BREACHED'),
    entity('KYC', 'KYC_NEEDED'),
    link('PENDING'),
    ledger,
    { ...ledger, type: 'linkedBankAccountProfile' },
  ];
  for (const move of moves) expect([move, world.refusal(move)]).toEqual([move, expect.anything()]);
});

test('a blocked entity’s updates are refused with the reason, and go on after UNBLOCKED', () => {
  const world = new World();
  play(world, [entity('KYC', 'KYC_NEEDED'), entity('entityStatusUpdate', 'BLOCKED')]);
  expect(world.refusal(entity('KYC', 'PENDING_KYC_DATA'))).toMatchObject({
    legal: [],
    reason: 'the entity is BLOCKED: it has no updates',
  });
  play(world, [entity('entityStatusUpdate', 'UNBLOCKED'), entity('KYC', 'PENDING_KYC_DATA')]);
});

test('UNBLOCKED lets held transactions continue', () => {
  const world = new World();
  play(world, [
    onRamp('PENDING'),
    entity('entityStatusUpdate', 'BLOCKED'),
    onRamp('ON_HOLD', 'ON_HOLD_PROCESS'),
    entity('entityStatusUpdate', 'UNBLOCKED'),
    onRamp('IN_PROGRESS'),
  ]);
});

test('the status is the state of an event whose only subType is statusUpdate', () => {
  const ledger = (status: string): Move => ({
    type: 'serviceBankAccount',
    subType: 'statusUpdate',
    status,
    process: 'ledger',
  });
  const world = new World();
  play(world, [
    ledger('WAITING_CREATION'),
    ledger('FAILED_CREATION'),
    ledger('WAITING_CREATION'),
    ledger('ACTIVE'),
  ]);
  expect(world.refusal(ledger('WAITING_CREATION'))?.legal).toEqual(['DISABLED']);
});

test('missing terms come after FULL_USER', () => {
  const move = entity('entityStatusUpdate', 'MISSING_TERMS_AND_CONDITIONS_SIGNED');
  expect(new World().refusal(move)?.legal).toEqual(['BLOCKED']);
  const world = new World();
  world.place('KYC', 'entity', 'FULL_USER');
  play(world, [move]);
});

test('event types without a state machine may come at any time', () => {
  const world = new World();
  play(world, [entity('walletCreated', 'CREATED'), entity('walletCreated', 'CREATED')]);
});

test('a barred entity’s transactions are held as ON_HOLD_PROCESS, not for its KYC', () => {
  const world = new World();
  play(world, [onRamp('PENDING'), entity('entityStatusUpdate', 'BLOCKED')]);
  expect(world.refusal(onRamp('ON_HOLD', 'ON_HOLD_KYC'))).toMatchObject({
    legal: ['ON_HOLD with data.status: ON_HOLD_PROCESS', 'FAILED'],
    reason: 'the entity is BLOCKED: its transactions are held as ON_HOLD_PROCESS',
  });
  expect(world.refusal(onRamp('ON_HOLD'))).toBeDefined();
  play(world, [onRamp('ON_HOLD', 'ON_HOLD_PROCESS')]);
});

test('a hold without a status of its own is one for the KYC, as its event is', () => {
  const world = new World();
  play(world, [onRamp('PENDING'), onRamp('ON_HOLD')]);
  expect(world.refusal(onRamp('IN_PROGRESS'))?.reason).toMatch(/held for KYC/);
});
