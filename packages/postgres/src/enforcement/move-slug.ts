import { callerAs, isThere, type OwnerFunction } from './objects.ts';

/** A move looks for the present paste among so many pastes from which the new one was made. */
export const MAX_STEPS = 100;

/**
 * Moves a slug from one paste of its owner to another one that was made from it, and records both as
 * versions. Returns `moved`, also when the slug is there already, or why not: see `MoveOutcome`. The api has
 * no right to change a slug: this is a function of the owner.
 *
 * The pastes are locked in the order of their codes, so that two moves can't deadlock, and only while they
 * are stored and there, so that no settlement or deletion of many rows can deadlock with a move. Each
 * statement after the locks sees what was committed before it. Who wants the slug meanwhile waits at the unique
 * index, in which the present paste has the slug until the commit.
 */
export const moveSlugFunction: OwnerFunction = {
  name: 'move_slug',
  parameters: 'of_slug text, of_user uuid, from_code text, to_code text, by_actor text',
  returns: 'text',
  body: `
    DECLARE
      source pastes%ROWTYPE;
      target pastes%ROWTYPE;
      locked integer;
      ancestor text;
      line uuid;
    BEGIN
      PERFORM FROM pastes p WHERE short_code IN (from_code, to_code) AND user_id = of_user AND status = 'PROCESSED' AND ${isThere('p')}
        ORDER BY short_code FOR NO KEY UPDATE;
      GET DIAGNOSTICS locked = ROW_COUNT;
      SELECT * INTO target FROM pastes WHERE short_code = to_code AND user_id = of_user;
      IF target.slug = of_slug THEN RETURN 'moved'; END IF;
      SELECT * INTO source FROM pastes WHERE short_code = from_code AND user_id = of_user AND slug = of_slug;
      IF NOT FOUND THEN RETURN 'moved_before'; END IF;
      IF NOT ${isThere('source')} THEN RETURN 'ended'; END IF;
      IF target.id IS NULL THEN RETURN 'unknown'; END IF;
      IF NOT ${isThere('target')} THEN RETURN 'target_ended'; END IF;
      IF 'FAILED' IN (source.status, target.status) THEN RETURN 'failed'; END IF;
      IF target.burn THEN RETURN 'burn'; END IF;
      IF source.encrypted OR target.encrypted THEN RETURN 'encrypted'; END IF;
      IF source.held_at IS NOT NULL OR target.held_at IS NOT NULL THEN RETURN 'held'; END IF;
      IF num_nonnulls(target.slug, target.version) > 0 THEN RETURN 'named'; END IF;
      ancestor := target.parent;
      FOR step IN 1..${MAX_STEPS} LOOP
        EXIT WHEN ancestor IS NULL OR ancestor = from_code;
        SELECT parent INTO ancestor FROM pastes WHERE short_code = ancestor;
      END LOOP;
      IF ancestor IS DISTINCT FROM from_code THEN RETURN 'unrelated'; END IF;
      IF locked < 2 THEN RETURN 'in_progress'; END IF;
      SELECT lineage INTO line FROM slug_versions WHERE paste_id = source.id;
      IF NOT FOUND THEN
        line := source.id;
        INSERT INTO slug_versions (lineage, number, paste_id, slug, named_at, actor)
          VALUES (line, 1, source.id, of_slug, source.created_at, ${callerAs('by_actor')});
      END IF;
      UPDATE pastes SET slug = NULL, version = coalesce(version, 1) WHERE id = source.id;
      UPDATE pastes SET slug = of_slug, version = coalesce(source.version, 1) + 1 WHERE id = target.id;
      INSERT INTO slug_versions (lineage, number, paste_id, slug, named_at, actor)
        VALUES (line, coalesce(source.version, 1) + 1, target.id, of_slug, clock_timestamp(), ${callerAs('by_actor')});
      RETURN 'moved';
    END`,
};
