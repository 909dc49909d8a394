import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { MACHINES } from '../../services/domain/catalog/machines.ts';
import { storyQuery } from '../api/reads.ts';
import { isSignedOut } from '../api/refusal.ts';
import { ended, useReadOnly, useSession } from '../api/session.ts';
import type { StoryEvent } from '../api/shapes.ts';
import { Button, Field } from '../parts/controls.tsx';
import { ErrorPanel, Panel, useTitle } from '../parts/screen.tsx';
import { Outcome } from '../parts/text.tsx';
import { MachineGraph } from '../story/machine-graph.tsx';
import { StoryEvents } from '../story/story-events.tsx';
import { Command, OnYourMachine } from './on-your-machine.tsx';
import { type PlayScenario, type PlayStep, SCENARIOS } from './scenarios.ts';
import { hasEventsQuery, trigger } from './trigger.ts';
import { TriggerForm } from './trigger-form.tsx';

/** Plays scenarios in the sandbox and triggers single events, to see whether a handler survives them. */
export function PlayPage() {
  useTitle('Play');
  const session = useSession();
  const { scenario: name, user } = useSearch({ from: '/play' });
  if (session?.environment !== 'sandbox') {
    return (
      <Panel heading="h1" title="Play">
        <p>This is production: scenarios are played in the sandbox only.</p>
      </Panel>
    );
  }
  const scenario = SCENARIOS.find((one) => one.name === name) ?? SCENARIOS[0];
  return (
    <>
      {scenario === undefined ? null : (
        <Player key={`${scenario.name} ${user}`} scenario={scenario} user={user} />
      )}
      <TriggerForm />
      <OnYourMachine />
    </>
  );
}

const GAP_MS = 1000;
const WHILE_PLAYING_MS = 500;
/** Deliveries go on when the last step is sent. */
const AGAIN_MS = 3000;

interface PlayerProps {
  readonly scenario: PlayScenario;
  readonly user: string | undefined;
}

function Player({ scenario, user }: PlayerProps) {
  const readOnly = useReadOnly();
  const isReader = readOnly !== undefined;
  const navigate = useNavigate({ from: '/play' });
  const { events, sent, isPlaying, error, play } = usePlay(scenario, user);
  const left = scenario.steps.length - Math.max(sent, events.length);
  const reached = events.filter(({ type }) => type === scenario.type).flatMap(({ state }) => state ?? []);
  const table = MACHINES[scenario.type];
  const begin = () => {
    const next = crypto.randomUUID();
    begun.add(next);
    void navigate({ search: { scenario: scenario.name, user: next } });
  };
  const isBegun = user !== undefined && (sent > 0 || events.length > 0);
  return (
    <>
      <Panel heading="h1" title="Play">
        <div className="row at-end">
          <Field
            label="Scenario"
            value={scenario.name}
            disabled={isPlaying}
            options={SCENARIOS.map(({ name }) => name)}
            onChange={(name) => void navigate({ search: { scenario: name } })}
          />
          <Button kind="primary" busy={isPlaying && 'Playing…'} disabled={isReader} onClick={begin}>
            {isBegun ? 'Play again' : 'Play'}
          </Button>
          {isBegun && !isPlaying && left > 0 ? (
            <Button disabled={isReader} onClick={play}>
              Go on with {left === 1 ? 'the last step' : `the other ${left} steps`}
            </Button>
          ) : null}
          {isReader ? <span className="note">{readOnly}</span> : null}
        </div>
        <p className="explanation">
          {scenario.title} <span className="note">{scenario.teaches}</span>
        </p>
        {table === undefined ? null : <MachineGraph type={scenario.type} table={table} reached={reached} />}
        <Steps steps={scenario.steps} events={events} sent={sent} />
        <ErrorPanel error={error} retry={play} />
        <p className="note">
          One step each second, as real events of your endpoints. The command keeps the times of the scenario:
        </p>
        <Command line={`sim run ${scenario.name}`} />
      </Panel>
      {user !== undefined && events.length > 0 ? <StoryEvents events={events} subject={user} /> : null}
    </>
  );
}

/** Plays that a press has begun: only these start by themselves, and not those of an address that was opened. */
const begun = new Set<string>();

/** Sends the steps that are left, one by one; what has happened is what the service says. */
function usePlay(scenario: PlayScenario, user: string | undefined) {
  const client = useQueryClient();
  const [sent, setSent] = useState(0);
  const [isPlaying, setPlaying] = useState(() => user !== undefined && begun.delete(user));
  const [error, setError] = useState<Error>();
  const { data: isKnown = false } = useQuery({
    ...hasEventsQuery(user ?? ''),
    enabled: ({ state }) => user !== undefined && state.data !== true,
    refetchInterval: isPlaying || sent > 0 ? WHILE_PLAYING_MS : false,
  });
  const { data } = useQuery({
    ...storyQuery(user ?? ''),
    enabled: isKnown,
    // An event that was sent is recorded a moment later.
    refetchInterval: ({ state }) =>
      isPlaying || (state.data?.events.length ?? 0) < sent ? WHILE_PLAYING_MS : AGAIN_MS,
  });
  const events: readonly StoryEvent[] = data?.events ?? [];
  const done = Math.max(sent, events.length);
  useEffect(() => {
    if (!isPlaying || user === undefined) return;
    const step = scenario.steps[done];
    if (step === undefined) return setPlaying(false);
    let isLeft = false;
    const timer = setTimeout(
      () => {
        trigger({ ...step, user_uuid: user, subject: user }).then(
          () => setSent(done + 1),
          (thrown: Error) => {
            if (isSignedOut(thrown)) ended(client, thrown.code);
            if (isLeft) return;
            setError(thrown);
            setPlaying(false);
          },
        );
      },
      done === 0 ? 0 : GAP_MS,
    );
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [isPlaying, user, done, scenario, client]);
  const play = () => {
    setError(undefined);
    setPlaying(true);
  };
  return { events, sent, isPlaying, error, play };
}

interface StepsProps {
  readonly steps: readonly PlayStep[];
  readonly events: readonly StoryEvent[];
  readonly sent: number;
}

function Steps({ steps, events, sent }: StepsProps) {
  return (
    <ol className="row play-steps" aria-label="Steps">
      {steps.map(({ type, subType, data }, index) => {
        const isThere = index < events.length;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a scenario never move
          <li key={index}>
            <Outcome tone={isThere ? 'good' : index < sent ? 'wait' : 'none'}>
              {type}/{subType}
            </Outcome>
            {data === undefined ? null : (
              <span className="note">
                {Object.entries(data)
                  .map(([name, value]) => `${name} ${value}`)
                  .join(', ')}
              </span>
            )}
          </li>
        );
      })}
    </ol>
  );
}
