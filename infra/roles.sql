-- The roles of the services, for a server where the migration may not create them: docs/deploy.md, "Database
-- roles". Change the three passwords first, and execute this in the database of Pasteflow as an administrator:
-- psql --file infra/roles.sql. The last six statements need a superuser.
CREATE ROLE pasteflow_owner NOLOGIN;
CREATE ROLE pasteflow_api LOGIN PASSWORD 'API-PASSWORD';
CREATE ROLE pasteflow_worker LOGIN PASSWORD 'WORKER-PASSWORD';
CREATE ROLE pasteflow_janitor LOGIN PASSWORD 'JANITOR-PASSWORD';
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO pasteflow_api, pasteflow_worker, pasteflow_janitor;
GRANT USAGE, CREATE ON SCHEMA public TO pasteflow_owner;
DO $$ BEGIN EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()); END $$;
DO $$ DECLARE setting record; BEGIN
  FOR setting IN
    SELECT role, name, value
    FROM unnest(ARRAY['pasteflow_api', 'pasteflow_worker', 'pasteflow_janitor']) AS role,
      (VALUES ('DateStyle', 'ISO, MDY'), ('IntervalStyle', 'postgres'), ('TimeZone', 'UTC'),
        ('extra_float_digits', '1'), ('standard_conforming_strings', 'on'), ('bytea_output', 'hex'),
        ('array_nulls', 'on'), ('quote_all_identifiers', 'off'),
        ('default_transaction_isolation', 'read committed'), ('search_path', 'public'),
        ('synchronous_commit', 'on')) AS settings (name, value)
  LOOP
    EXECUTE format('ALTER ROLE %I SET %I = %L', setting.role, setting.name, setting.value);
  END LOOP;
END $$;
ALTER ROLE pasteflow_api SET log_parameter_max_length = 0;
ALTER ROLE pasteflow_worker SET log_parameter_max_length = 0;
ALTER ROLE pasteflow_janitor SET log_parameter_max_length = 0;
ALTER ROLE pasteflow_api SET log_error_verbosity = terse;
ALTER ROLE pasteflow_worker SET log_error_verbosity = terse;
ALTER ROLE pasteflow_janitor SET log_error_verbosity = terse;
